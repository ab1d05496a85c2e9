/* SPDX-License-Identifier: GPL-3.0-or-later */
/* writing.h: strings to streams of files, in pieces instead of characters. */
#ifndef IMAGE_WRITING_H
#define IMAGE_WRITING_H

#include <ecl/ecl.h>

/* The stream that output to STREAM ends in, or NULL when that is not a stream
   which does nothing but take characters. */
cl_object writing_final_stream(cl_env_ptr env, cl_object stream);

#endif
