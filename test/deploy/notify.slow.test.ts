/** The watchdog's messages come from the main process: while it is frozen there are none, whatever its workers do. */

import { execFileSync } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { until } from '../support/until.ts'
import { type NotifySocket, startNotifying } from './notify-socket.ts'
import { missing } from './programs.ts'

const skip = missing('systemd-notify', 'python3')
const BEAT = 200

const isBeaten = (socket: NotifySocket, count: number) =>
  until(
    () => socket.beats() >= count,
    () => `${socket.beats()} times WATCHDOG=1, not ${count}`,
  )

/** A message that was begun has been sent: the process that sends it has ended, as a zombie of a frozen one. */
function isSending(pid: number): boolean {
  const processes = execFileSync('ps', ['-A', '-o', 'ppid=,state=,comm='], { encoding: 'utf8' })
  return new RegExp(`^ *${pid} [^Z] systemd-notify`, 'm').test(processes)
}

for (const workers of [1, 2])
  t.test(`watchdog: ${workers} processes, while the main one runs`, { skip }, async (t) => {
    const { socket, gateway } = await startNotifying(t, BEAT, { top: [`workers: ${workers}`] })
    await isBeaten(socket, 2)
    gateway.signal('SIGSTOP')
    await until(
      () => !isSending(gateway.pid),
      () => 'systemd-notify does not end',
    )
    await socket.mark()
    const frozen = socket.beats()
    await sleep(5 * BEAT)
    await socket.mark()
    t.equal(socket.beats(), frozen, 'a frozen process sends none')
    gateway.signal('SIGCONT')
    await isBeaten(socket, frozen + 1)
    t.equal(await gateway.end(), 0)
  })
