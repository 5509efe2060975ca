/*
 * hookline-relay: passes a call of an agent to the daemon, and returns its answer. The compiled client.
 *
 * Calls that the daemon does not answer are answered in process: the `hookline` beside this program is run with the same
 * input. Only after the relay has agreed ('G') is that no longer allowed, because hooks may have run: then the
 * answer is the one the daemon sent for that case ('B').
 *
 * For an agent's shell (`run --shell`) it asks the server of that agent, which runs the command with our streams under the
 * exec guard (docs/decisions/0064-shells-of-other-agents.md).
 *
 * client.py is the same in Python; both are held to the same tests. The protocol is described in
 * docs/decisions/0031-the-relay.md. No stdio and no locale: an agent waits for the start of this program.
 */
#define _GNU_SOURCE
#define _DARWIN_C_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/auxv.h>
#include <sys/mman.h>
#endif
#ifdef __APPLE__
#include <mach-o/dyld.h>
#endif

#ifndef HOOKLINE_VERSION
#error "say which version of hookline this belongs to: -DHOOKLINE_VERSION=\"...\""
#endif
#ifndef HOOKLINE_OBSERVED
#error "say which events guard nothing, as observed.txt does: -DHOOKLINE_OBSERVED=\"...\""
#endif
#ifndef O_PATH
#define O_PATH O_RDONLY
#endif
#ifndef MSG_NOSIGNAL
#define MSG_NOSIGNAL 0
#endif

/* One byte more than the payloads that Hookline reads, so that it sees when one is too long. */
#define MOST_INPUT (((size_t)64 << 20) + 1)
#define MOST_FRAME ((size_t)256 << 20)
/* Milliseconds without any progress, up to the first frame. */
#define PATIENCE 5000
#define BLOCKED 2
#define FAILED 1
#define INSTALL ": install hookline again, or remove its entries from the hooks of this agent"

enum { HEADER = 5 };

struct bytes {
    char *at;
    size_t size, room;
};

struct text {
    const char *at;
    size_t size;
};

struct answer {
    uint32_t code;
    struct text out, err, otherwise;
};

struct frame {
    char kind;
    struct text body;
};

extern char **environ;

/* ---- small things ---- */

static int starts(const char *word, const char *with) { return strncmp(word, with, strlen(with)) == 0; }

/* Write everything; 0 if that is not possible. The stream may be non-blocking, as some agents pass it. */
static int write_all(int stream, const char *at, size_t size) {
    while (size > 0) {
        ssize_t written = write(stream, at, size);
        if (written >= 0) {
            at += written;
            size -= (size_t)written;
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            struct pollfd wait = {stream, POLLOUT, 0};
            poll(&wait, 1, -1);
        } else if (errno != EINTR) {
            return 0;
        }
    }
    return 1;
}

/* How a call ends that nobody answers, and the words for it: it is blocked, except at an event that guards nothing. */
static char unanswered = BLOCKED;
static const char *const CONSEQUENCES[] = {[FAILED] = ", so no hook was asked", [BLOCKED] = ", so this was blocked"};

/* Neither the daemon nor the program can answer. */
static _Noreturn void refuse(const char *what, const char *more, const char *todo) {
    const char *parts[] = {"hookline-relay: ", what, more, CONSEQUENCES[(int)unanswered], todo, "\n"};
    size_t part;
    signal(SIGPIPE, SIG_IGN);
    for (part = 0; part < sizeof parts / sizeof *parts; part++)
        (void)write_all(2, parts[part], strlen(parts[part]));
    _exit(unanswered);
}

/* Make space for `more` bytes. */
static void make_room(struct bytes *buffer, size_t more) {
    size_t need = buffer->size + more, room = buffer->room ? buffer->room : (size_t)1 << 16;
    char *grown;
    if (need <= buffer->room)
        return;
    while (room < need)
        room *= 2;
    grown = realloc(buffer->at, room);
    if (grown == NULL)
        refuse("there is not enough memory", "", "");
    buffer->at = grown;
    buffer->room = room;
}

/* Move a descriptor above the standard streams: these may be closed, and an answer must not be written into ours. */
static int above_streams(int descriptor) {
    int higher;
    if (descriptor < 0 || descriptor > 2)
        return descriptor;
    higher = fcntl(descriptor, F_DUPFD_CLOEXEC, 3);
    close(descriptor);
    return higher;
}

/* ---- the call in process ---- */

/* Return this program's real path, without links. */
static int own_path(char *path, size_t room) {
    char real[PATH_MAX];
#ifdef __linux__
    ssize_t size = readlink("/proc/self/exe", path, room - 1);
    const char *named;
    if (size > 0 && (size_t)size < room - 1) {
        path[size] = 0;
        if (path[0] == '/')
            return 1;
    }
    named = (const char *)getauxval(AT_EXECFN);
    if (named == NULL || realpath(named, real) == NULL)
        return 0;
#else
    char named[PATH_MAX];
#ifdef __APPLE__
    uint32_t most = sizeof named;
    if (_NSGetExecutablePath(named, &most) != 0 || realpath(named, real) == NULL)
        return 0;
#else
    return 0;
#endif
#endif
    if (strlen(real) >= room)
        return 0;
    strcpy(path, real);
    return 1;
}

/* Make the input readable from its start for another program. */
static int input_again(const struct bytes *input) {
    int file = -1;
#ifdef MFD_CLOEXEC
    file = memfd_create("hookline-relay", MFD_CLOEXEC);
#endif
    if (file < 0) {
        char name[] = "/tmp/hookline-relay-XXXXXX";
        file = mkstemp(name);
        if (file >= 0)
            unlink(name);
    }
    if (file < 0 || !write_all(file, input->at, input->size) || lseek(file, 0, SEEK_SET) != 0 || dup2(file, 0) < 0)
        return 0;
    if (file != 0)
        close(file);
    else
        fcntl(0, F_SETFD, 0);
    return 1;
}

/* Runs the script that is its third argument; the first two are how a call ends that nobody answers. No variable may
 * choose what the interpreter loads before that (-I), so the packages beside the script are named here, for an
 * installation that only HOME leads to. */
static const char BOOT[] =
    "import sys\n"
    "_, unanswered, consequence, script = sys.argv[:4]\n"
    "del sys.argv[:3]\n"
    "sys.path.append('%s/../lib/python%d.%d/site-packages' % (script.rpartition('/')[0], *sys.version_info[:2]))\n"
    "try:\n"
    "    exec(compile(open(script, 'rb').read(), script, 'exec'), {'__name__': '__main__', '__file__': script})\n"
    "except ImportError as problem:\n"
    "    text = f'hookline-relay: {script} cannot be run ({problem}){consequence}'\n"
    "    sys.exit(sys.stderr.write(text + '" INSTALL "\\n') and int(unanswered))\n";

/* The interpreter of a script: installers write `#!/path/python`, or if that is too long or has spaces, a line of shell:
 * '''exec' '/path/python' "$0" "$@". Empty if it is another program. */
static void find_interpreter(const char *script, char *found, size_t room) {
    static const char shell[] = "#!/bin/sh\n'''exec' ";
    char text[PATH_MAX + 64], *at = text, *end, *name, quote = 0;
    int file = open(script, O_RDONLY | O_CLOEXEC);
    ssize_t size = file < 0 ? -1 : read(file, text, sizeof text - 1);
    found[0] = 0;
    if (file >= 0)
        close(file);
    if (size <= 0)
        return;
    text[size] = 0;
    if (starts(text, shell)) {
        at += sizeof shell - 1;
        if (*at == '"' || *at == '\'')
            quote = *at++;
    } else if (starts(text, "#!")) {
        at += 2 + (text[2] == ' ');
    } else {
        return;
    }
    for (end = at; *end != 0 && *end != '\n' && (quote ? *end != quote : *end != ' '); end++)
        ;
    if (*end == 0 || *at != '/' || (size_t)(end - at) >= room)
        return;
    *end = 0;
    name = strrchr(at, '/') + 1;
    if (starts(name, "python") || starts(name, "pypy"))
        strcpy(found, at);
}

/* Variables that Python reads even with `-I`: with them it takes the packages beside the program they name,
 * and starts that program instead of itself. */
static int names_python(const char *entry) {
    return starts(entry, "PYTHONEXECUTABLE=") || starts(entry, "__PYVENV_LAUNCHER__=");
}

/* The value of --daemon. */
static const char *named_directory;

/* Run the `hookline` beside this program. `input` is the standard input, if it was read. `reason` is why the
 * daemon did not answer; without one, it must not be asked. */
static _Noreturn void in_process(char **arguments, const struct bytes *input, const char *reason) {
    static const char variable[] = "HOOKLINE_RELAY=";
    static char said[PATH_MAX + 64];
    char path[PATH_MAX + 16], python[PATH_MAX], code[2] = "";
    char *slash, **words, **env;
    size_t count = 0, kept = 0, first = 0;
    if (!own_path(path, PATH_MAX) || (slash = strrchr(path, '/')) == NULL)
        refuse("its own directory is not known", "", INSTALL);
    strcpy(slash + 1, "hookline");
    if (input != NULL && !input_again(input))
        refuse("its input cannot be passed on to ", path, "");

    while (arguments[count] != NULL)
        count++;
    words = calloc(count + 8, sizeof *words);
    for (count = 0; environ[count] != NULL;)
        count++;
    env = calloc(count + 2, sizeof *env);
    if (words == NULL || env == NULL)
        refuse("there is not enough memory", "", "");
    find_interpreter(path, python, sizeof python);
    if (python[0] != 0 && access(path, X_OK) == 0) {
        words[first++] = python;
        words[first++] = (char *)"-I";
        words[first++] = (char *)"-c";
        words[first++] = (char *)BOOT;
        code[0] = (char)('0' + unanswered);
        words[first++] = code;
        words[first++] = (char *)CONSEQUENCES[(int)unanswered];
    }
    words[first++] = path;
    for (count = 0; arguments[count] != NULL; count++)
        words[first + count] = arguments[count];
    for (count = 0; environ[count] != NULL; count++)
        /* A program that is not known to be Python may start it: a project's modules must not be loaded then. */
        if (!starts(environ[count], variable) && !names_python(environ[count]) &&
            (words[0] == python || !starts(environ[count], "PYTHON")))
            env[kept++] = environ[count];
    if (reason != NULL) {
        /* The reason is one of ours; a daemon must be started where it was searched for. */
        strcpy(said, variable);
        strcat(said, reason);
        if (named_directory != NULL && strlen(named_directory) < PATH_MAX) {
            strcat(said, " ");
            strcat(said, named_directory);
        }
        env[kept] = said;
    }
    execve(words[0], words, env);
    refuse(words[0], errno == ENOENT ? " is not there" : " cannot be run", INSTALL);
}

/* ---- the request ---- */

/* Return 1 if an event of a dialect guards nothing. */
static int is_observed(const char *dialect, const char *event) {
    char pair[128];
    if (strlen(dialect) + strlen(event) > sizeof pair - 4)
        return 0;
    strcat(strcat(strcat(strcat(strcpy(pair, "\n"), dialect), " "), event), "\n");
    return strstr("\n" HOOKLINE_OBSERVED, pair) != NULL;
}

/* Return 1 if the words are a call of an agent: `hook` with options that the daemon knows. Everything else, also what is
 * wrong, is for the program itself. */
static int is_call(char **words) {
    static const char option[] = "--dialect=";
    const char *named = NULL, *event = NULL;
    if (words[0] == NULL || strcmp(words[0], "hook") != 0)
        return 0;
    for (words++; *words != NULL; words++) {
        int dialect = strcmp(*words, "--dialect") == 0;
        if (dialect || strcmp(*words, "--config") == 0 || strcmp(*words, "--from") == 0 ||
            strcmp(*words, "--home") == 0 || strcmp(*words, "--hooks") == 0 || strcmp(*words, "--scope") == 0) {
            if (words[1] == NULL || words[1][0] == '-')
                return 0;
            named = dialect ? words[1] : named;
            words++;
        } else if (starts(*words, option)) {
            named = *words + sizeof option - 1;
        } else if ((*words)[0] != '-') {
            event = event == NULL ? *words : "";
        } else if (!starts(*words, "--config=") && !starts(*words, "--from=") &&
                   !starts(*words, "--home=") && !starts(*words, "--hooks=") && !starts(*words, "--scope=") &&
                   strcmp(*words, "--strict") != 0) {
            return 0;
        }
    }
    if (named != NULL && event != NULL && is_observed(named, event))
        unanswered = FAILED;
    return named != NULL;
}

/* Read all of standard input, up to the limit; 0 if it cannot be read. */
static int read_input(struct bytes *input) {
    while (input->size < MOST_INPUT) {
        ssize_t got;
        size_t room;
        make_room(input, (size_t)1 << 14);
        room = input->room - input->size;
        if (room > MOST_INPUT - input->size)
            room = MOST_INPUT - input->size;
        got = read(0, input->at + input->size, room);
        if (got > 0) {
            input->size += (size_t)got;
        } else if (got == 0) {
            return 1;
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            struct pollfd wait = {0, POLLIN, 0};
            poll(&wait, 1, -1);
        } else if (errno != EINTR) {
            return 0;
        }
    }
    return 1;
}

static void add_number(struct bytes *to, size_t number) {
    int byte;
    make_room(to, 4);
    for (byte = 0; byte < 4; byte++)
        to->at[to->size++] = (char)(number >> (8 * byte) & 0xff);
}

static void add_text(struct bytes *to, const char *text) {
    size_t size = strlen(text);
    add_number(to, size);
    make_room(to, size);
    memcpy(to->at + to->size, text, size);
    to->size += size;
}

static void add_texts(struct bytes *to, char **texts) {
    size_t count = 0;
    while (texts[count] != NULL)
        count++;
    add_number(to, count);
    for (; *texts != NULL; texts++)
        add_text(to, *texts);
}

/* Write the request up to the bytes of the input; 0 if it would be too long. */
static int make_request(struct bytes *head, char **arguments, size_t input) {
    char *directory = getcwd(NULL, 0);
    size_t length, byte;
    add_number(head, 0); /* the first word is written at the end */
    add_number(head, 0);
    add_number(head, 0);
    memcpy(head->at, "HKRELAY1", 8);
    add_text(head, HOOKLINE_VERSION);
    /* A directory that is mounted elsewhere has no path that begins with a slash. */
    add_text(head, directory != NULL && directory[0] == '/' ? directory : "");
    free(directory);
    add_texts(head, arguments);
    add_texts(head, environ);
    add_number(head, input);
    length = head->size - 12 + input;
    if (length > UINT32_MAX)
        return 0;
    for (byte = 0; byte < 4; byte++)
        head->at[8 + byte] = (char)(length >> (8 * byte) & 0xff);
    return 1;
}

/* ---- the connection ---- */

static int is_private(const struct stat *found) {
    return S_ISDIR(found->st_mode) && found->st_uid == geteuid() && (found->st_mode & 077) == 0;
}

static char *add_digits(char *to, unsigned long number) {
    if (number > 9)
        to = add_digits(to, number / 10);
    *to = (char)('0' + number % 10);
    return to + 1;
}

/* Return the directory of the user's daemon. Never from the environment: a project's settings can set that. */
static const char *usual_directory(void) {
    static char path[64] = "/run/user/";
    struct stat found;
    char *end = add_digits(path + strlen(path), geteuid());
    *end = 0;
    if (lstat(path, &found) == 0 && is_private(&found)) {
        strcpy(end, "/hookline");
    } else {
        strcpy(path, "/tmp/hookline-");
        *add_digits(path + strlen(path), geteuid()) = 0;
    }
    return path;
}

static int is_own_peer(int connection) {
#ifdef SO_PEERCRED
    struct ucred peer;
    socklen_t size = sizeof peer;
    return getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && size == sizeof peer &&
           peer.uid == geteuid();
#else
    uid_t user;
    gid_t group;
    return getpeereid(connection, &user, &group) == 0 && user == geteuid();
#endif
}

static int new_socket(void) {
    int made;
#ifdef SOCK_CLOEXEC
    made = above_streams(socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
#else
    made = above_streams(socket(AF_UNIX, SOCK_STREAM, 0));
    if (made >= 0) {
        int on = 1;
        fcntl(made, F_SETFD, FD_CLOEXEC);
        fcntl(made, F_SETFL, O_NONBLOCK);
        setsockopt(made, SOL_SOCKET, SO_NOSIGPIPE, &on, sizeof on);
    }
#endif
    return made;
}

/* The name of the socket in the directory. */
static char socket_name[32] = "/relay";

static int connect_to(int made, const char *directory) {
    struct sockaddr_un address;
    memset(&address, 0, sizeof address);
    address.sun_family = AF_UNIX;
    if (strlen(directory) + strlen(socket_name) >= sizeof address.sun_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    strcpy(address.sun_path, directory);
    strcat(address.sun_path, socket_name);
    return connect(made, (struct sockaddr *)&address, sizeof address);
}

/* Return the socket in an open directory, which cannot be exchanged and whose path may be long. */
static int connect_in(int made, int opened, const char *directory) {
#ifdef __linux__
    char path[40] = "/proc/self/fd/";
    struct stat found;
    *add_digits(path + strlen(path), (unsigned long)opened) = 0;
    if (connect_to(made, path) == 0)
        return 0;
    if (errno != ENOENT || lstat("/proc/self/fd", &found) == 0)
        return -1;
#else
    (void)opened;
#endif
    return connect_to(made, directory);
}

/* Connect to a daemon of the same user; -1 with the reason if there is none. */
static int reach(const char *directory, const char **reason) {
    struct stat found;
    int opened, made = -1, connected = 0;
    *reason = "none";
    opened = above_streams(open(directory, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (opened < 0)
        return -1;
    if (fstat(opened, &found) == 0 && is_private(&found) && (made = new_socket()) >= 0) {
        connected = connect_in(made, opened, directory) == 0;
        if (!connected && (errno == EAGAIN || errno == EWOULDBLOCK))
            *reason = "busy";
    }
    close(opened);
    if (made >= 0 && !(connected && is_own_peer(made))) {
        close(made);
        return -1;
    }
    return made;
}

/* Wait until the connection can be read or written; 0 if nothing happened for that long. */
static int ready(int connection, short events, int patience) {
    struct pollfd wait = {connection, events, 0};
    int found;
    do
        found = poll(&wait, 1, patience);
    while (found < 0 && errno == EINTR);
    return found > 0 ? wait.revents : 0;
}

/* Streams that go with the first byte of a request: those of a shell. */
static int passed_streams;

/* Pass the standard streams with a message. */
static void add_streams(struct msghdr *message, char *room, size_t size) {
    static const int streams[] = {0, 1, 2};
    struct cmsghdr *header;
    memset(room, 0, size);
    message->msg_control = room;
    message->msg_controllen = CMSG_SPACE(sizeof streams);
    header = CMSG_FIRSTHDR(message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof streams);
    memcpy(CMSG_DATA(header), streams, sizeof streams);
}

/* Send everything; 0 if the other side stops reading, or says something before it can have read everything. */
static int send_all(int connection, struct iovec *parts, int count) {
    union {
        struct cmsghdr aligned;
        char bytes[128];
    } room;
    while (count > 0) {
        struct msghdr message;
        ssize_t sent;
        memset(&message, 0, sizeof message);
        message.msg_iov = parts;
        message.msg_iovlen = (unsigned)count;
        if (passed_streams)
            add_streams(&message, room.bytes, sizeof room.bytes);
        sent = sendmsg(connection, &message, MSG_NOSIGNAL);
        if (sent < 0) {
            if (errno == EINTR)
                continue;
            if (errno != EAGAIN && errno != EWOULDBLOCK)
                return 0;
            if (ready(connection, POLLIN | POLLOUT, PATIENCE) != POLLOUT)
                return 0;
            continue;
        }
        passed_streams = 0;
        while (count > 0 && (size_t)sent >= parts->iov_len) {
            sent -= (ssize_t)parts->iov_len;
            parts++;
            count--;
        }
        if (count > 0) {
            parts->iov_base = (char *)parts->iov_base + sent;
            parts->iov_len -= (size_t)sent;
        }
    }
    return 1;
}

/* ---- the answer ---- */

static uint32_t number_at(const char *at) {
    const unsigned char *byte = (const unsigned char *)at;
    return byte[0] | (uint32_t)byte[1] << 8 | (uint32_t)byte[2] << 16 | (uint32_t)byte[3] << 24;
}

/* Read the next frame, in `received` from its byte `from` on; 0 if it does not come. */
static int read_frame(int connection, struct bytes *received, size_t from, int patience, struct frame *frame) {
    for (;;) {
        size_t have = received->size - from, need = HEADER;
        ssize_t got;
        if (have >= HEADER) {
            const char *header = received->at + from;
            need += number_at(header + 1);
            if ((header[0] != 'V' && header[0] != 'B' && header[0] != 'A') || need - HEADER > MOST_FRAME)
                return 0;
            if (have >= need) {
                frame->kind = header[0];
                frame->body.at = header + HEADER;
                frame->body.size = need - HEADER;
                return 1;
            }
        }
        make_room(received, (size_t)1 << 14);
        if (!ready(connection, POLLIN, patience))
            return 0;
        got = recv(connection, received->at + received->size, received->room - received->size, 0);
        if (got > 0)
            received->size += (size_t)got;
        else if (got == 0 || (errno != EINTR && errno != EAGAIN && errno != EWOULDBLOCK))
            return 0;
    }
}

static int take_text(struct text *from, struct text *into) {
    if (from->size < 4)
        return 0;
    into->size = number_at(from->at);
    into->at = from->at + 4;
    if (into->size > from->size - 4)
        return 0;
    from->at += 4 + into->size;
    from->size -= 4 + into->size;
    return 1;
}

/* Read an answer; 0 if it is not one. */
static int read_answer(struct text body, struct answer *answer) {
    if (body.size < 4)
        return 0;
    answer->code = number_at(body.at);
    body.at += 4;
    body.size -= 4;
    return answer->code <= 255 && take_text(&body, &answer->out) && take_text(&body, &answer->err) &&
           take_text(&body, &answer->otherwise) && body.size == 0;
}

static const char *refusal(struct text words) {
    static const char version[] = "version";
    size_t size = sizeof version - 1;
    return words.size >= size && memcmp(words.at, version, size) == 0 ? version : "busy";
}

/* Give the agent its answer. If a block cannot be written, the exit code alone must block. */
static _Noreturn void give(struct answer answer) {
    signal(SIGPIPE, SIG_IGN);
    if (!write_all(1, answer.out.at, answer.out.size) && answer.otherwise.size > 0) {
        answer.code = BLOCKED;
        answer.err = answer.otherwise;
    }
    if (answer.err.size > 0 && write_all(2, answer.err.at, answer.err.size) &&
        answer.err.at[answer.err.size - 1] != '\n')
        (void)write_all(2, "\n", 1);
    _exit((int)answer.code);
}

/* 1 if it was agreed with the request that only the other side runs it, from its 'B' on. */
static int agreed;

/* Ask the daemon. Gives its answer, or returns the reason why the call must be made in process. */
static const char *ask(int connection, struct bytes *head, struct bytes *input) {
    struct iovec parts[2] = {{head->at, head->size}, {input->at, input->size}};
    struct bytes received = {NULL, 0, 0};
    struct frame frame;
    struct answer answer, last;
    size_t first;
    int sent = send_all(connection, parts, input->size > 0 ? 2 : 1);
    /* A daemon that is too busy may say so and close before it has read everything. */
    if (!read_frame(connection, &received, 0, !sent ? 0 : agreed ? -1 : PATIENCE, &frame))
        return "lost";
    if (frame.kind == 'V')
        return refusal(frame.body);
    if (!sent || !read_answer(frame.body, &answer))
        return "lost";
    if (frame.kind == 'A')
        give(answer);

    parts[0].iov_base = (char[]){'G'};
    parts[0].iov_len = 1;
    first = HEADER + frame.body.size;
    if (!agreed && !send_all(connection, parts, 1))
        return "lost";
    /* From here on hooks may have run: never again in process. Texts are found again, because the buffer may move. */
    if (read_frame(connection, &received, first, -1, &frame) && frame.kind == 'A' && read_answer(frame.body, &last))
        give(last);
    frame.body.at = received.at + HEADER;
    frame.body.size = first - HEADER;
    (void)read_answer(frame.body, &answer);
    give(answer);
}

/* ---- the shell under the exec guard ---- */

#ifdef __linux__
/* Read a file of a process below /proc; the size, or -1. */
static ssize_t read_about(const char *process, const char *name, char *into, size_t room) {
    char path[64] = "/proc/";
    int file;
    ssize_t size = 0, got;
    strcat(strcat(strcat(path, process), "/"), name);
    file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return errno == ENOENT ? 0 : -1;
    while ((got = read(file, into + size, room - 1 - (size_t)size)) > 0)
        size += got;
    close(file);
    into[size] = 0;
    return got < 0 && errno != EINVAL ? -1 : size;
}

/* Return 1 if a line of /proc/PID/status is about what the process may do. */
static int is_confinement(const char *line) {
    static const char *const names[] = {"Uid:", "Gid:", "Groups:", "Cap", "NoNewPrivs:", "Seccomp", "Cpus_allowed:"};
    size_t name;
    for (name = 0; name < sizeof names / sizeof *names; name++)
        if (starts(line, names[name]))
            return 1;
    return 0;
}

/* Leave the lines about what the process may do. */
static void keep_confinement(char *text) {
    char *into = text, *line = text, *end;
    for (; *line != 0; line = end) {
        end = strchr(line, '\n');
        end = end == NULL ? line + strlen(line) : end + 1;
        if (is_confinement(line)) {
            memmove(into, line, (size_t)(end - line));
            into += end - line;
        }
    }
    *into = 0;
}

/* Return 1 if a process is confined exactly as this one: a command that it starts may do no more than one of ours. */
static int is_confined_alike(const char *other) {
    static const char *const spaces[] = {"cgroup", "ipc", "mnt", "net", "pid", "time", "user", "uts"};
    static const char *const files[] = {"cgroup", "limits", "attr/current", "status"};
    static char ours[16384], theirs[16384];
    char path[64], theirs_path[64];
    struct stat own, found;
    size_t each;
    for (each = 0; each < sizeof spaces / sizeof *spaces; each++) {
        strcat(strcpy(path, "/proc/self/ns/"), spaces[each]);
        strcat(strcat(strcat(strcpy(theirs_path, "/proc/"), other), "/ns/"), spaces[each]);
        if (stat(path, &own) != 0)
            continue; /* this kernel has no such namespace */
        if (stat(theirs_path, &found) != 0 || own.st_ino != found.st_ino || own.st_dev != found.st_dev)
            return 0;
    }
    strcat(strcat(strcpy(theirs_path, "/proc/"), other), "/root/.");
    if (stat("/", &own) != 0 || stat(theirs_path, &found) != 0 || own.st_ino != found.st_ino ||
        own.st_dev != found.st_dev)
        return 0;
    for (each = 0; each < sizeof files / sizeof *files; each++) {
        ssize_t size;
        size = read_about("self", files[each], ours, sizeof ours);
        if (size < 0 || read_about(other, files[each], theirs, sizeof theirs) < 0)
            return 0;
        if (strcmp(files[each], "status") == 0) {
            keep_confinement(ours);
            keep_confinement(theirs);
        }
        if (strcmp(ours, theirs) != 0)
            return 0;
    }
    return 1;
}
#endif

/* Return 1 if the peer is confined as this process. */
static int is_like_peer(int connection) {
#ifdef __linux__
    struct ucred peer;
    socklen_t size = sizeof peer;
    char number[24];
    if (getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 || peer.pid <= 0)
        return 0;
    *add_digits(number, (unsigned long)peer.pid) = 0;
    return is_confined_alike(number);
#else
    (void)connection;
    return 0;
#endif
}

/* Return 1 if the words are a shell's under the exec guard: `run --shell NAME -- ...`, as our programs of its name say. */
static int is_shell(char **words) {
    return words[0] != NULL && strcmp(words[0], "run") == 0 && words[1] != NULL && strcmp(words[1], "--shell") == 0 &&
           words[2] != NULL && words[3] != NULL && strcmp(words[3], "--") == 0;
}

/* Let the server of this client run a shell with our streams; without one, be its supervisor ourselves. */
static _Noreturn void be_shell(char **arguments) {
    static struct bytes head, none;
    const char *reason;
    int connection;
    strcpy(socket_name, "/shell-");
    *add_digits(socket_name + strlen(socket_name), (unsigned long)getppid()) = 0;
    connection = reach(usual_directory(), &reason);
    if (connection >= 0 && is_like_peer(connection) && make_request(&head, arguments, 0)) {
        passed_streams = agreed = 1;
        (void)ask(connection, &head, &none);
    }
    in_process(arguments, NULL, NULL);
}

/* Return the words of a shell under our own name, hookline-bash or hookline-zsh; else those that were given. */
static char **words_by_name(const char *named, char **words) {
    static const char ours[] = "hookline-";
    const char *slash = strrchr(named, '/'), *name = slash != NULL ? slash + 1 : named;
    size_t count = 0;
    char **found;
    if (strcmp(name, "hookline-bash") != 0 && strcmp(name, "hookline-zsh") != 0)
        return words;
    while (words[count] != NULL)
        count++;
    found = calloc(count + 5, sizeof *found);
    if (found == NULL)
        refuse("there is not enough memory", "", "");
    found[0] = (char *)"run";
    found[1] = (char *)"--shell";
    found[2] = (char *)name + sizeof ours - 1;
    found[3] = (char *)"--";
    memcpy(found + 4, words, count * sizeof *words);
    return found;
}

int main(int argc, char **argv) {
    static struct bytes input, head;
    const char *reason;
    char **arguments = argc > 0 ? words_by_name(argv[0], argv + 1) : argv;
    int connection;
    if (is_shell(arguments))
        be_shell(arguments);
    if (arguments[0] != NULL && strcmp(arguments[0], "--daemon") == 0) {
        named_directory = arguments[1];
        if (named_directory == NULL || named_directory[0] != '/')
            refuse("--daemon must name a directory by its absolute path", "", "");
        arguments += 2;
    }
    /* With a terminal, a person calls; only the program itself records that. */
    if (!is_call(arguments) || isatty(0) || isatty(1) || isatty(2))
        in_process(arguments, NULL, NULL);
    if (!read_input(&input))
        in_process(arguments, NULL, NULL);
    connection = reach(named_directory != NULL ? named_directory : usual_directory(), &reason);
    if (connection >= 0) {
        reason = make_request(&head, arguments, input.size) ? ask(connection, &head, &input) : "lost";
        close(connection);
    }
    in_process(arguments, &input, reason);
}
