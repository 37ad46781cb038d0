/**
 * SIGUSR1 makes Node.js open its debugger on 127.0.0.1:9229, where each program of the machine may run code in the
 * process. A program that may send the signal is not always one that may read the secrets.
 */

import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import t from 'tap'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { until } from '../support/until.ts'
import { workersOf } from '../support/workers.ts'

const LISTEN = '0A'

/** Inodes of the TCP sockets on which the process listens. */
function listening(pid: number): string[] {
  const inodes = ['tcp', 'tcp6'].flatMap((family) =>
    readFileSync(`/proc/${pid}/net/${family}`, 'utf8')
      .split('\n')
      .slice(1)
      .map((line) => line.trim().split(/\s+/))
      .filter(([, , , state]) => state === LISTEN)
      .map((fields) => fields[9] ?? ''),
  )
  return openSockets(pid).filter((inode) => inodes.includes(inode))
}

/** Inodes. A descriptor may be closed meanwhile. */
function openSockets(pid: number): string[] {
  return readdirSync(`/proc/${pid}/fd`).flatMap((descriptor) => {
    try {
      return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${descriptor}`))?.[1] ?? []
    } catch {
      return []
    }
  })
}

for (const workers of [1, 2])
  t.test(`SIGUSR1 and SIGUSR2 with ${workers} workers`, async (t) => {
    const gateway = await startGatewayProcess(t, { top: [`workers: ${workers}`] })
    const pids = [gateway.pid, ...workersOf(gateway.pid)]
    t.equal(pids.length, workers === 1 ? 1 : 1 + workers)
    const before = pids.map(listening)
    for (const pid of pids) process.kill(pid, 'SIGUSR1')
    for (const pid of pids) process.kill(pid, 'SIGUSR2')
    const logged = () => gateway.lines().filter(({ msg }) => msg === 'the signal has no effect')
    await until(() => logged().length === 2, 'the lines about the signals')
    t.same(
      logged()
        .map(({ signal }) => signal)
        .sort(),
      ['SIGUSR1', 'SIGUSR2'],
    )
    for (const _ of pids)
      t.equal((await fetch(`${gateway.origin}/docs/a`)).status, 502, 'its upstream is down')
    t.same(pids.map(listening), before, 'nothing else listens')
    t.same([gateway.pid, ...workersOf(gateway.pid)], pids, 'every process goes on')
    t.notMatch(gateway.log, /debugger/i)
    t.equal(await gateway.end(), 0)
  })
