;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; native-files.lisp: what is asked of files and folders in C, like
;;;; native.lisp.

(in-package #:ecl-mcp)

(ffi:clines "
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
")

(ffi:clines "
static int ecl_mcp_open_fault(const char *path, int flags)
{
    int fd = open(path, flags | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0600);

    if (fd < 0)
        return errno;
    close(fd);
    return 0;
}

static int ecl_mcp_is_special(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 && !S_ISREG(status.st_mode) &&
           !S_ISDIR(status.st_mode);
}

/* When the file was changed, to the nanosecond, and how long it is. */
static const char *ecl_mcp_version(const char *path)
{
    static __thread char text[128];
    struct stat status;

    if (stat(path, &status) < 0)
        return NULL;
    (void)snprintf(text, sizeof text, \"%lld.%09ld %lld.%09ld %lld\",
                   (long long)status.st_mtim.tv_sec, status.st_mtim.tv_nsec,
                   (long long)status.st_ctim.tv_sec, status.st_ctim.tv_nsec,
                   (long long)status.st_size);
    return text;
}

/* The kind of ENTRY in the folder FD; a link counts as what it leads to if
   LINKS is set. */
static mode_t ecl_mcp_entry_kind(int fd, const struct dirent *entry, int links)
{
    struct stat status;

    if (entry->d_type == DT_DIR)
        return S_IFDIR;
    if (entry->d_type == DT_REG)
        return S_IFREG;
    if (fstatat(fd, entry->d_name, &status,
                links ? 0 : AT_SYMLINK_NOFOLLOW) < 0)
        return 0;
    return status.st_mode & S_IFMT;
}

static cl_object ecl_mcp_entries(const char *path, int links, int room)
{
    cl_object names = ECL_NIL;
    DIR *folder = opendir(path);
    struct dirent *entry;

    while (folder && room-- > 0 && (entry = readdir(folder))) {
        char name[sizeof entry->d_name + 1];
        mode_t kind = ecl_mcp_entry_kind(dirfd(folder), entry, links);
        if (kind != S_IFDIR && kind != S_IFREG)
            continue;
        (void)snprintf(name, sizeof name, \"%s%s\", entry->d_name,
                       kind == S_IFDIR ? \"/\" : \"\");
        names = ecl_cons(ecl_make_simple_base_string(name, -1), names);
    }
    if (folder)
        closedir(folder);
    return names;
}

/* Whether NAMES, strings that end in a slash, have NAME. */
static int ecl_mcp_has_folder(cl_object names, const char *name)
{
    size_t n = strlen(name);

    for (; names != ECL_NIL; names = ECL_CONS_CDR(names)) {
        const char *other =
            (const char *)ECL_CONS_CAR(names)->base_string.self;
        if (strncmp(other, name, n) == 0 && strcmp(other + n, \"/\") == 0)
            return 1;
    }
    return 0;
}

static int ecl_mcp_is_definition(int fd, const struct dirent *entry)
{
    size_t n = strlen(entry->d_name);

    return n > 4 && strcasecmp(entry->d_name + n - 4, \".asd\") == 0 &&
           ecl_mcp_entry_kind(fd, entry, 0) == S_IFREG;
}

/* How much of a search is left. */
struct ecl_mcp_search {
    cl_object skipped; /* names of folders that are not searched */
    int folders;
    int entries; /* of all folders */
    int looked;  /* at so many of them */
    struct timespec until;
};

/* Entries between two looks at the clock: fewer are read in any case, also where
   the machine is busy. */
#define ECL_MCP_UNTIMED 64

static int ecl_mcp_is_over(struct ecl_mcp_search *search)
{
    struct timespec now;

    if (search->entries-- <= 0)
        return 1;
    if (++search->looked % ECL_MCP_UNTIMED != 0)
        return 0;
    if (clock_gettime(CLOCK_MONOTONIC, &now) < 0 ||
        now.tv_sec > search->until.tv_sec ||
        (now.tv_sec == search->until.tv_sec &&
         now.tv_nsec >= search->until.tv_nsec))
        search->entries = search->folders = -1; // for good
    return search->entries < 0;
}

/* The next entry of FOLDER that the search may look at, or NULL. */
static const struct dirent *ecl_mcp_next(struct ecl_mcp_search *search,
                                         DIR *folder)
{
    const struct dirent *entry;

    do
        entry = readdir(folder);
    while (entry && (strcmp(entry->d_name, \".\") == 0 ||
                     strcmp(entry->d_name, \"..\") == 0));
    return entry && !ecl_mcp_is_over(search) ? entry : NULL;
}

/* Appends NAME and its NUL to the *N bytes at *NAMES; without memory, not. */
static void ecl_mcp_add_name(char **names, size_t *n, const char *name)
{
    size_t more = strlen(name) + 1;
    char *larger = realloc(*names, *n + more);

    if (!larger)
        return;
    memcpy(larger + *n, name, more);
    *names = larger;
    *n += more;
}

/* Whether there is a definition file in the folder FD, which is closed, or
   DEPTH levels below it, but not in folders that begin with a dot. Each folder
   is read once, and to its end before those in it. */
static int ecl_mcp_finds_definition(struct ecl_mcp_search *search, int fd,
                                    int depth)
{
    DIR *folder = fd >= 0 && search->folders-- > 0 ? fdopendir(fd) : NULL;
    const struct dirent *entry;
    char *names = NULL;
    size_t n = 0;
    int found = 0;

    if (!folder && fd >= 0)
        close(fd);
    while (folder && !found && (entry = ecl_mcp_next(search, folder))) {
        found = ecl_mcp_is_definition(fd, entry);
        if (!found && depth > 0 && entry->d_name[0] != '.' &&
            ecl_mcp_entry_kind(fd, entry, 0) == S_IFDIR &&
            !ecl_mcp_has_folder(search->skipped, entry->d_name))
            ecl_mcp_add_name(&names, &n, entry->d_name);
    }
    for (size_t i = 0; i < n && !found && search->folders > 0;
         i += strlen(names + i) + 1)
        found = ecl_mcp_finds_definition(
            search,
            openat(fd, names + i,
                   O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC),
            depth - 1);
    free(names);
    if (folder)
        closedir(folder);
    return found;
}

static int ecl_mcp_definition_below(const char *path, int depth, int ms,
                                    struct ecl_mcp_search *search)
{
    if (clock_gettime(CLOCK_MONOTONIC, &search->until) < 0)
        return 0;
    search->until.tv_sec += ms / 1000;
    search->until.tv_nsec += ms % 1000 * 1000000L;
    if (search->until.tv_nsec >= 1000000000L) {
        search->until.tv_sec++;
        search->until.tv_nsec -= 1000000000L;
    }
    return ecl_mcp_finds_definition(
        search, open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), depth);
}
")

(defun folder-entries (path links limit)
  "Returns the names of the files and folders in the folder PATH, a simple base
string; those of folders end in a slash. A link counts as what it leads to if
LINKS is true, and not at all otherwise. After LIMIT entries, no more are read."
  (ffi:c-inline (path (if links 1 0) limit) (:object :int :int) :object
                "ecl_mcp_entries((const char *)(#0)->base_string.self, #1, #2)"
                :one-liner t))

(defun definition-below-p (path skipped depth folders entries ms)
  "True when there is a definition file in the folder PATH, a simple base string, or
DEPTH levels below it. Folders with one of the names SKIPPED, simple base strings
that end in a slash, and hidden ones are not searched. The search ends after so many
FOLDERS, ENTRIES of them, or milliseconds MS; 63 entries are read in any case."
  (ffi:c-inline (path skipped depth folders entries ms)
                (:object :object :int :int :int :int) :bool "{
    struct ecl_mcp_search search = {#1, #3, #4, 0, {0, 0}};
    @(return) = ecl_mcp_definition_below(
        (const char *)(#0)->base_string.self, #2, #5, &search);
  }" :one-liner nil))

(defun native-file-version (path)
  "Returns a text that differs whenever the file PATH, a simple base string, has
been changed, or NIL when there is no such file."
  (ffi:c-inline (path) (:object) :object "{
    const char *text =
        ecl_mcp_version((const char *)(#0)->base_string.self);
    @(return) = text ? ecl_make_simple_base_string(text, -1) : ECL_NIL;
  }" :one-liner nil))

(defun open-error-number (path mode)
  "Returns the number of the error that opening PATH, a simple base string,
causes, or 0. MODE is :READ, :WRITE (an existing file) or :CREATE (a file in the
folder PATH; none is made). Anything but files and folders is left alone and
gives 0."
  (ffi:c-inline (path (ecase mode (:read 0) (:write 1) (:create 2)))
                (:object :int) :int "{
    static const int flags[] = {O_RDONLY, O_WRONLY, O_WRONLY | O_TMPFILE};
    const char *path = (const char *)(#0)->base_string.self;
    @(return) = ecl_mcp_is_special(path) ? 0
                                         : ecl_mcp_open_fault(path, flags[#1]);
  }" :one-liner nil))

(defun error-number-text (number)
  "Returns the C library's text for error NUMBER."
  (ffi:c-inline (number) (:int) :cstring "strerror(#0)" :one-liner t))

(defun error-number-kind (number)
  "Returns :MISSING, :DENIED or NIL for error NUMBER."
  (ffi:c-inline (number) (:int) :object
                "(#0 == ENOENT ? ecl_make_keyword(\"MISSING\")
                  : (#0 == EACCES || #0 == EPERM || #0 == EROFS)
                  ? ecl_make_keyword(\"DENIED\") : ECL_NIL)"
                :one-liner t))

(defun open-lock (path)
  "Opens the lock file PATH, a simple base string, after creating it if
necessary. Returns its descriptor, or -1 on failure."
  (ffi:c-inline (path) (:object) :int
                "open((const char *)(#0)->base_string.self,
                      O_RDWR | O_CREAT | O_CLOEXEC, 0600)"
                :one-liner t))

(defun take-lock (descriptor wait)
  "Locks the file of DESCRIPTOR against other processes. If WAIT is true, waits
for them. False when the file is not locked then, which may also be because an
interrupt ended the wait."
  (ffi:c-inline (descriptor (if wait 1 0)) (:int :int) :bool "{
    int done;
    do
        done = flock(#0, #1 ? LOCK_EX : LOCK_EX | LOCK_NB);
    while (done < 0 && errno == EINTR);
    @(return) = done == 0;
  }" :one-liner nil))

(defun close-descriptor (descriptor)
  "Closes DESCRIPTOR, and so releases a lock on it."
  (ffi:c-inline (descriptor) (:int) :void "close(#0);" :one-liner nil))

(defun make-temporary-directory (template)
  "Makes a directory that only this process uses. TEMPLATE is a name that ends in
XXXXXX. Returns the name of the directory with a final slash, or NIL on failure."
  (let ((name (copy-seq (system-bytes template))))
    (and (ffi:c-inline (name) (:object) :bool
                       "mkdtemp((char *)(#0)->base_string.self) != NULL"
                       :one-liner t)
         (concatenate 'string (lisp-name name) "/"))))

(ffi:clines "
/* Makes TO a copy of FROM, or leaves no TO. */
static int ecl_mcp_copy(const char *from, const char *to)
{
    char bytes[65536];
    int in = open(from, O_RDONLY | O_CLOEXEC);
    int out = in < 0 ? -1 : open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
                                 0666);
    ssize_t n = out < 0 ? -1 : 1;

    while (n > 0 && (n = read(in, bytes, sizeof bytes)) > 0)
        if (write(out, bytes, (size_t)n) != n)
            n = -1;
    if (in >= 0)
        close(in);
    if (out >= 0 && (close(out) < 0 || n < 0)) {
        (void)unlink(to);
        n = -1;
    }
    return n == 0;
}
")

(defun copy-native-file (from to)
  "Makes the file TO a copy of the file FROM, strings of ASCII. True on success;
otherwise there is no file TO."
  (when (every (lambda (name) (every (lambda (c) (< (char-code c) 128)) name))
               (list from to))
    (ffi:c-inline ((coerce from 'simple-base-string)
                   (coerce to 'simple-base-string))
                  (:object :object) :bool
                  "ecl_mcp_copy((const char *)(#0)->base_string.self,
                                (const char *)(#1)->base_string.self)"
                  :one-liner t)))

(defun write-text-file (file text external-format)
  "Makes FILE have TEXT in EXTERNAL-FORMAT. Returns true when it has all of it.
Otherwise there is no file: ECL does not say what a full disk has not taken."
  (let ((length (ignore-errors
                 (with-open-file (stream file :direction :output
                                              :if-exists :supersede
                                              :external-format external-format)
                   (write-string text stream)
                   (file-string-length stream text)))))
    (cond ((and length
                (eql length (with-open-file (stream file)
                              (file-length stream))))
           t)
          (t (ignore-errors (delete-file file))
             nil))))

(ffi:clines "
static int ecl_mcp_remove(const char *path, const struct stat *status, int type,
                          struct FTW *place)
{
    (void)status;
    (void)type;
    (void)place;
    (void)remove(path); // what cannot be removed stays
    return 0;
}

/* Without the slash at the end of its name: with it, a link would be what it
   leads to. */
static void ecl_mcp_delete_tree(const char *folder)
{
    char name[PATH_MAX];
    int n = snprintf(name, sizeof name, \"%s\", folder);

    if (n < 0 || (size_t)n >= sizeof name)
        return;
    while (n > 1 && name[n - 1] == '/')
        name[--n] = '\\0';
    (void)nftw(name, ecl_mcp_remove, 16, FTW_DEPTH | FTW_PHYS);
}
")

(defun delete-tree (folder)
  "Deletes FOLDER, a simple base string, and all in it. Links are deleted, and not
what they lead to."
  (ffi:c-inline (folder) (:object) :void
                "ecl_mcp_delete_tree((const char *)(#0)->base_string.self);"
                :one-liner nil))
