/*
 * A plugin of QEMU's user emulation that counts the instructions of each thread. Its argument counts=FILE names a file of
 * 64-bit numbers, one per 64 bytes (a cache line), the main thread's first.
 *
 * The declarations are those of qemu-plugin.h (version 1 of the interface), which Debian does not package.
 */

#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define THREADS 512
#define STRIDE (64 / sizeof(uint64_t))

typedef uint64_t plugin_id;
struct qemu_plugin_tb;
struct qemu_info_t;
enum qemu_plugin_cb_flags { QEMU_PLUGIN_CB_NO_REGS };

extern void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id, void (*)(plugin_id, struct qemu_plugin_tb *));
extern size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);
extern void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *, void (*)(unsigned int, void *),
                                                 enum qemu_plugin_cb_flags, void *);

int qemu_plugin_version = 1;

static uint64_t *counts;

static void executed(unsigned int thread, void *instructions) {
  if (thread < THREADS) counts[thread * STRIDE] += (uintptr_t)instructions;
}

/* A block without branches is translated once, and counted each time that it runs. */
static void translated(plugin_id id, struct qemu_plugin_tb *block) {
  void *instructions = (void *)qemu_plugin_tb_n_insns(block);
  qemu_plugin_register_vcpu_tb_exec_cb(block, executed, QEMU_PLUGIN_CB_NO_REGS, instructions);
}

int qemu_plugin_install(plugin_id id, const struct qemu_info_t *info, int argc, char **argv) {
  static const char option[] = "counts=";
  if (argc != 1 || strncmp(argv[0], option, sizeof option - 1) != 0) return 1;
  int file = open(argv[0] + sizeof option - 1, O_RDWR | O_CREAT | O_TRUNC, 0600);
  if (file < 0 || ftruncate(file, THREADS * 64) != 0) return 1;
  counts = mmap(NULL, THREADS * 64, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (counts == MAP_FAILED) return 1;
  qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
  return 0;
}
