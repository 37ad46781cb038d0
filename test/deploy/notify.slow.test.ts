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

/** The states of processes, as `ps` has them: T for a frozen one, Z for one that has ended. */
function statesOf(where: (pid: number, parent: number) => boolean): string[] {
  const processes = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,state='], { encoding: 'utf8' })
  const rows = processes.trim().split('\n')
  return rows
    .map((row) => row.trim().split(/ +/))
    .filter(([pid, parent]) => where(Number(pid), Number(parent)))
    .map(([, , state = '']) => state)
}

/**
 * Resolves once no message of the frozen gateway is on its way: each is sent by a process of its own, which has the name of
 * the gateway at first.
 */
async function isSilent(gateway: number, workers: number): Promise<void> {
  await until(
    () => statesOf((pid) => pid === gateway).includes('T'),
    () => 'the gateway is not frozen',
  )
  await until(
    () => statesOf((_, parent) => parent === gateway).filter((state) => state !== 'Z').length === workers,
    () => 'systemd-notify does not end',
  )
}

for (const workers of [1, 2])
  t.test(`watchdog: ${workers} processes, while the main one runs`, { skip }, async (t) => {
    const { socket, gateway } = await startNotifying(t, BEAT, { top: [`workers: ${workers}`] })
    await isBeaten(socket, 2)
    gateway.signal('SIGSTOP')
    // One worker is the main process itself; two are its children.
    await isSilent(gateway.pid, workers === 1 ? 0 : workers)
    await socket.mark()
    const frozen = socket.beats()
    await sleep(5 * BEAT)
    await socket.mark()
    t.equal(socket.beats(), frozen, 'a frozen process sends none')
    gateway.signal('SIGCONT')
    await isBeaten(socket, frozen + 1)
    t.equal(await gateway.end(), 0)
  })
