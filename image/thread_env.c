/* SPDX-License-Identifier: GPL-3.0-or-later */
/* thread_env.c: where the environment of the calling thread is, which ECL asks
   for some 240 times in one call of FORMAT. Its own function looks into
   pthread_getspecific(3); these definitions in the program take the place of
   those in the library, which calls them through its table of symbols. A
   library that does not would only be as slow as before. */
#include <dlfcn.h>
#include <string.h>

#include <ecl/ecl.h>

/* The environment of this thread, once it lasts; compiled code may look here,
   too. */
extern __thread cl_env_ptr ecl_mcp_env;
__thread cl_env_ptr ecl_mcp_env;

static cl_env_ptr (*process_env)(void);
static void (*release_thread)(void);

/* Stores in *FUNCTION the library's definition of NAME. */
static void find(void *function, const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);

    memcpy(function, &found, sizeof found);
}

__attribute__((constructor)) static void find_originals(void)
{
    find(&process_env, "ecl_process_env");
    find(&release_thread, "ecl_release_current_thread");
}

/* A foreign thread that becomes one of Lisp has another environment at first,
   on its stack, which belongs to no process yet. */
cl_env_ptr ecl_process_env(void)
{
    cl_env_ptr env = ecl_mcp_env;

    if (env)
        return env;
    env = process_env();
    if (env->own_process && env->own_process != ECL_NIL)
        ecl_mcp_env = env;
    return env;
}

void ecl_release_current_thread(void)
{
    release_thread();
    ecl_mcp_env = NULL; // the thread may come back with another one
}
