/**
 * Reports the state of the service to systemd (sd_notify), for `Type=notify` and `WatchdogSec`. Does nothing
 * if NOTIFY_SOCKET is not set.
 *
 * Each message is sent by a `systemd-notify` process: Node.js has no Unix datagram sockets, and the npm
 * packages that add them compile C++ when they are installed. `systemd-notify` is a part of systemd, so it
 * exists wherever the socket does. The sender is a child of the main process, which systemd accepts with
 * `NotifyAccess=all` only.
 */

import { execFile } from 'node:child_process'
import type { Log } from '../telemetry/logger.ts'

const { hrtime, pid, ppid } = process

/** Milliseconds beyond the bound of a start or a stop until systemd ends the process. */
const MARGIN = 15_000
/** Milliseconds for `systemd-notify`, which itself waits up to 5 s until systemd has read the message. */
const SEND_TIMEOUT = 10_000

export class ServiceManager {
  readonly #env: NodeJS.ProcessEnv
  readonly #logger: Log['logger']
  /** Messages are sent one after the other: their order is the order of states. */
  #sent: Promise<void> = Promise.resolve()
  #failed = false

  constructor(env: NodeJS.ProcessEnv, { logger }: Log) {
    this.#env = env
    this.#logger = logger
  }

  /** @param timeout ms that the start may take, whatever `TimeoutStartSec` says */
  starting(timeout: number): void {
    void this.#send(extension(timeout), 'STATUS=starting')
  }

  /** The start, or a reload, is done: a faulty reload as well, as the gateway goes on. */
  ready(status: string): void {
    void this.#send('READY=1', `STATUS=${status}`)
  }

  /** The time is for `Type=notify-reload`: systemd ignores a message from before its own signal. */
  reloading(): void {
    const now = hrtime.bigint() / 1000n
    void this.#send('RELOADING=1', `MONOTONIC_USEC=${now}`, 'STATUS=reloading the configuration')
  }

  /**
   * Resolves once systemd has the message, or the message has failed.
   *
   * @param timeout ms that the stop may take, whatever `TimeoutStopSec` says
   */
  stopping(timeout: number): Promise<void> {
    return this.#send('STOPPING=1', extension(timeout), 'STATUS=draining')
  }

  /**
   * Sends WATCHDOG=1 at half of the watchdog's interval. A blocked event loop sends none.
   *
   * @param healthy whether the process does its work; what a restart can't repair, such as a store that is
   *   away, is no reason for false
   */
  watch(healthy: () => boolean): void {
    const interval = watchdogInterval(this.#env)
    if (interval === null) return
    const beat = async () => {
      if (healthy()) await this.#send('WATCHDOG=1')
      wait()
    }
    const wait = () => void setTimeout(beat, interval / 2).unref()
    wait()
  }

  #send(...assignments: string[]): Promise<void> {
    const { NOTIFY_SOCKET, PATH } = this.#env
    if (NOTIFY_SOCKET === undefined || NOTIFY_SOCKET === '') return Promise.resolve()
    this.#sent = this.#sent.then(() => systemdNotify(assignments, { NOTIFY_SOCKET, PATH })).then(this.#note)
    return this.#sent
  }

  /** Logs the first failure of a series. */
  readonly #note = (cause: string | null): void => {
    if (cause !== null && !this.#failed)
      this.#logger.warn({ cause }, 'systemd-notify failed: systemd does not know the state of the gateway')
    this.#failed = cause !== null
  }
}

/**
 * @param env nothing else of the environment, which has secrets
 * @returns why it failed, or null
 */
function systemdNotify(assignments: readonly string[], env: NodeJS.ProcessEnv): Promise<string | null> {
  const lines = assignments.map((each) => each.replaceAll(/\s+/g, ' '))
  return new Promise((resolve) => {
    execFile('systemd-notify', lines, { env, timeout: SEND_TIMEOUT }, (error) =>
      resolve(error === null ? null : error.message.trim()),
    )
  })
}

function extension(timeout: number): string {
  return `EXTEND_TIMEOUT_USEC=${Math.ceil((timeout + MARGIN) * 1000)}`
}

/**
 * Milliseconds; null without a watchdog. WATCHDOG_PID is this process, or its parent if another Node.js has
 * started this one.
 */
function watchdogInterval({ WATCHDOG_USEC, WATCHDOG_PID = String(pid) }: NodeJS.ProcessEnv): number | null {
  const interval = Number(WATCHDOG_USEC) / 1000
  return interval > 0 && [pid, ppid].includes(Number(WATCHDOG_PID)) ? interval : null
}
