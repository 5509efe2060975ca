/*
 * Reads frames as relay.c does, for test_frames.py: cases come on standard input, each with its length before it, and for
 * each of them a line says what was understood. Built with the checks of the compiler for memory and arithmetic.
 */
#define main relay_main
#include "relay.c"
#undef main
#include <stdio.h>

static void say_text(struct text text) {
    printf(":");
    fwrite(text.at, 1, text.size, stdout);
}

static void say_answer(struct text body) {
    /* A copy of exactly its size: whatever is read behind it is found. */
    char *copy = malloc(body.size ? body.size : 1);
    struct answer answer;
    memcpy(copy, body.at, body.size);
    body.at = copy;
    if (!read_answer(body, &answer))
        printf("lost");
    else
        printf("%u", answer.code), say_text(answer.out), say_text(answer.err), say_text(answer.otherwise);
    free(copy);
}

static void say_case(const char *given, size_t size) {
    struct bytes received = {NULL, 0, 0};
    struct frame frame;
    size_t from = 0;
    int ends[2], number;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0 || !write_all(ends[1], given, size))
        _exit(3);
    close(ends[1]);
    for (number = 0; number < 2; number++) {
        if (!read_frame(ends[0], &received, from, PATIENCE, &frame)) {
            printf("lost ");
            break;
        }
        printf("%c ", frame.kind);
        if (frame.kind == 'V')
            printf("%s", refusal(frame.body));
        else
            say_answer(frame.body);
        printf(" ");
        from += HEADER + frame.body.size;
    }
    printf("\n");
    close(ends[0]);
    free(received.at);
}

int main(void) {
    char length[4];
    while (fread(length, 1, 4, stdin) == 4) {
        size_t size = number_at(length);
        char *given = malloc(size ? size : 1);
        if (given == NULL || fread(given, 1, size, stdin) != size)
            return 3;
        say_case(given, size);
        free(given);
    }
    return 0;
}
