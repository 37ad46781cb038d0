/** How much of the cores' time nothing uses. */

import { cpus } from 'node:os'

/** Milliseconds of all cores together since the machine started, and those of them without work. */
interface CoreTimes {
  readonly all: number
  readonly idle: number
}

export class IdleCores {
  #last = timesOfMachine()

  /** The share since the last call or the construction, from 0 to 1. */
  share(): number {
    const [before, now] = [this.#last, timesOfMachine()]
    this.#last = now
    return now.all > before.all ? (now.idle - before.idle) / (now.all - before.all) : 0
  }
}

function timesOfMachine(): CoreTimes {
  let [all, idle] = [0, 0]
  for (const { times } of cpus()) {
    all += times.user + times.nice + times.sys + times.idle + times.irq
    idle += times.idle
  }
  return { all, idle }
}
