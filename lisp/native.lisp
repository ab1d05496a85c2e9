;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; native.lisp: the few functions that need a line of C. ECL's interpreter
;;;; cannot load this file, only its compiler.

(in-package #:ecl-mcp)

(ffi:clines "#include <gc/gc.h>")

(defun start-measuring-collections ()
  "Makes the collector keep the time its collections take."
  (ffi:c-inline () () :void "GC_start_performance_measurement();"
                :one-liner nil))

(defun collection-milliseconds ()
  "Returns the milliseconds the collector has taken since it measures."
  (ffi:c-inline () () :unsigned-long "GC_get_full_gc_total_time()"
                :one-liner t))

(defun bytes-allocated ()
  "Returns the bytes allocated since the process was started."
  (ffi:c-inline () () :unsigned-long "(unsigned long)GC_get_total_bytes()"
                :one-liner t))

(defun bytes-in-use ()
  "Returns the bytes of the heap that are not free."
  (ffi:c-inline () () :unsigned-long
                "(unsigned long)(GC_get_heap_size() - GC_get_free_bytes())"
                :one-liner t))

(defun forget-column (stream)
  "Makes STREAM believe that it is at the start of a line."
  (ffi:c-inline (stream) (:object) :void
                "if (ECL_ANSI_STREAM_P(#0)) (#0)->stream.column = 0;"
                :one-liner nil))

(defun throw-past-cleanups (tag)
  "Throws NIL to TAG without running the cleanup forms between. The last means
before the process is killed."
  (ffi:c-inline (tag) (:object) :void "{
    cl_env_ptr env = ecl_process_env();
    ecl_frame_ptr frame = env->frs_top;
    while (frame > env->frs_org && frame->frs_val != #0)
        --frame;
    if (frame->frs_val == #0) {
        env->values[0] = ECL_NIL;
        env->nvalues = 1;
        env->frs_top = frame;
        ecl_unwind(env, frame);
    }
  }" :one-liner nil))

