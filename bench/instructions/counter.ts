/**
 * Counts the instructions that a gateway executes per request, by an emulator: QEMU's user emulation. Other
 * load on the machine changes the count by a hundredth, and doubles CPU times. Instructions of the kernel are
 * not counted, nor is waiting for memory. The gateway takes some twenty times as long.
 */

import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { which } from '../cores.ts'
import { needsTls } from '../load-settings.ts'
import { withPeer } from '../measure.ts'
import { Traffic } from '../traffic.ts'
import type { Side } from '../turns.ts'
import type { Workload } from '../workloads.ts'

/** Requests that warm a gateway up. */
const WARM = 40_000
/** A gateway this slow answers more of them too late: mixed traffic asks its store, which has a timeout. */
const CONNECTIONS = 16
/** Seconds of a part of the warm-up, and of the measurement. */
const STEP = 10
const COUNTED = 20

const SOURCE = fileURLToPath(new URL('counter.c', import.meta.url))

export class InstructionCounter {
  readonly #emulator: string
  readonly #plugin: string
  readonly #folder: string

  /**
   * @param folder for its files
   * @throws if a program that it needs is not installed
   */
  constructor(folder: string) {
    const [emulator, compiler] = [which('qemu-x86_64'), which('cc')]
    if (emulator === null || compiler === null)
      throw new Error('counting takes qemu-x86_64 and a C compiler: apt-get install qemu-user gcc')
    this.#emulator = emulator
    this.#plugin = join(folder, 'counter.so')
    this.#folder = folder
    execFileSync(compiler, ['-O2', '-shared', '-fPIC', '-o', this.#plugin, SOURCE])
  }

  /** The beginning of the command of a program whose instructions are counted under a name. */
  runner(name: string): readonly string[] {
    return [this.#emulator, '-plugin', `file=${this.#plugin},counts=${this.#fileOf(name)}`]
  }

  /**
   * Resolves with the instructions of the main thread of a fresh process, per request.
   *
   * @param side its peer has this counter's runner for its name
   */
  async perRequest({ peer, place, requests }: Side, workload: Workload): Promise<number> {
    const { workers, client } = workload
    if (needsTls(client)) throw new Error(`instructions are counted without TLS, not with ${client}`)
    return withPeer({ peer, workload }, place, async ({ port }) => {
      const authorises = peer.authorises
      const traffic = new Traffic({ port, requests, authorises, workers, client, connections: CONNECTIONS })
      for (let warm = 0; warm < WARM;) warm += (await traffic.saturate(STEP)).requests
      const before = this.count(peer.name)
      const { requests: answered } = await traffic.saturate(COUNTED)
      return (this.count(peer.name) - before) / answered
    })
  }

  /**
   * The instructions of the main thread of a program since its start.
   *
   * @param name as in {@link runner}
   */
  count(name: string): number {
    return Number(readFileSync(this.#fileOf(name)).readBigUInt64LE())
  }

  #fileOf(name: string): string {
    return join(this.#folder, `${name}.counts`)
  }
}
