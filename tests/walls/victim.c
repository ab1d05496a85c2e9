/* SPDX-License-Identifier: GPL-3.0-or-later */
/* victim.c: another program of the user, which attempts attack; see attempt.h.
   What this system does not have is not printed. */
#include <fcntl.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "walls/attempt.h"

/* The keys of the user (add_key(2)); no header of the C library has it. */
#define USER_KEYRING (-4L)

/* What may be read from outside by other means than files. */
static char secret[] = "the victim's secret";

struct objects {
    int memory;
    int semaphore;
    int messages;
    char queue[32];
};

static void make_shared(struct objects *objects)
{
    struct {
        long kind;
        char text[8];
    } message = {1, "message"};

    objects->memory = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600);
    if (objects->memory >= 0)
        (void)printf("SHM=%d\n", objects->memory);
    objects->semaphore = semget(IPC_PRIVATE, 1, IPC_CREAT | 0600);
    if (objects->semaphore >= 0 &&
        semctl(objects->semaphore, 0, SETVAL, 1) == 0)
        (void)printf("SEM=%d\n", objects->semaphore);
    objects->messages = msgget(IPC_PRIVATE, IPC_CREAT | 0600);
    if (objects->messages >= 0 &&
        msgsnd(objects->messages, &message, sizeof message.text, 0) == 0)
        (void)printf("MSQ=%d\n", objects->messages);
    (void)snprintf(objects->queue, sizeof objects->queue, "/ecl-mcp-walls-%d",
                   (int)getpid());
    if (mq_open(objects->queue, O_CREAT | O_RDWR | O_CLOEXEC, 0600, NULL) >= 0)
        (void)printf("MQ=%s\n", objects->queue + 1);
}

static void remove_shared(const struct objects *objects)
{
    // attempts may have done so
    (void)shmctl(objects->memory, IPC_RMID, NULL);
    (void)semctl(objects->semaphore, 0, IPC_RMID);
    (void)msgctl(objects->messages, IPC_RMID, NULL);
    (void)mq_unlink(objects->queue);
}

/* Listens at NAME, or at the abstract name that follows its @. */
static bool listen_at(const char *name, int type)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);
    size_t length = strlen(name);

    memcpy(address.sun_path, name, length);
    if (address.sun_path[0] == '@')
        address.sun_path[0] = '\0';
    return fd >= 0 &&
           bind(fd, (const struct sockaddr *)&address,
                (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length)) ==
               0 &&
           (type == SOCK_DGRAM || listen(fd, 5) == 0);
}

/* Listens at a port of this machine; 0: cannot. */
static int listen_at_port(int type)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    int fd = socket(AF_INET, type | SOCK_CLOEXEC, 0);

    if (fd < 0 || bind(fd, (const struct sockaddr *)&address, length) < 0 ||
        (type == SOCK_STREAM && listen(fd, 5) < 0) ||
        getsockname(fd, (struct sockaddr *)&address, &length) < 0)
        return 0;
    return ntohs(address.sin_port);
}

static void make_sockets(const char *folder)
{
    char path[100];

    (void)snprintf(path, sizeof path, "%s/stream-%d", folder, (int)getpid());
    if (listen_at(path, SOCK_STREAM))
        (void)printf("SOCKET=%s\n", path);
    (void)snprintf(path, sizeof path, "%s/datagram-%d", folder, (int)getpid());
    if (listen_at(path, SOCK_DGRAM))
        (void)printf("DATAGRAM=%s\n", path);
    (void)snprintf(path, sizeof path, "@ecl-mcp-walls-%d", (int)getpid());
    if (listen_at(path, SOCK_STREAM))
        (void)printf("ABSTRACT=%s\n", path);
    (void)printf("PORT=%d\nUDP=%d\n", listen_at_port(SOCK_STREAM),
                 listen_at_port(SOCK_DGRAM));
}

int victim_run(const char *folder)
{
    struct objects objects = {-1, -1, -1, ""};
    char byte;

    (void)signal(SIGUSR1, SIG_IGN);
    // so that the user has a key as long as this runs, or the system has none
    (void)syscall(SYS_add_key, "user", "ecl-mcp-walls", "secret", 6L,
                  USER_KEYRING);
    make_shared(&objects);
    make_sockets(folder);
    (void)printf("ADDRESS=%ld\nready\n", (long)secret);
    (void)fflush(stdout);
    while (read(STDIN_FILENO, &byte, 1) > 0)
        continue;
    remove_shared(&objects);
    return 0;
}
