/**
 * SIGUSR1 makes Node.js open its debugger on 127.0.0.1:9229, where each program of the machine may run code in the
 * process. A program that may send the signal is not always one that may read the secrets.
 */

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { constants } from 'node:os'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { GatewayProcess, startGatewayProcess } from '../support/gateway-process.ts'
import { reservePort } from '../support/servers/ports.ts'
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

/** Signals that the process catches (proc(5)). Node.js catches SIGUSR1 before it runs any program. */
function catches(pid: number, signal: number): boolean {
  const [, mask = '0'] = /^SigCgt:\s*([0-9a-f]+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return (BigInt(`0x${mask}`) & (1n << BigInt(signal - 1))) !== 0n
}

for (const workers of [1, 2])
  t.test(`SIGUSR1 as early as Node.js catches it, with ${workers} workers`, async (t) => {
    // Another program of the machine may have the usual port.
    const env = { NODE_OPTIONS: `--inspect-port=127.0.0.1:${await reservePort(t)}` }
    const gateway = await GatewayProcess.launch(t, { top: [`workers: ${workers}`], env })
    const signalled = new Set<number>()
    const early = () => {
      for (const pid of [gateway.pid, ...workersOf(gateway.pid)].filter((each) => !signalled.has(each))) {
        if (!catches(pid, constants.signals.SIGUSR1)) continue
        process.kill(pid, 'SIGUSR1')
        signalled.add(pid)
      }
      return gateway.origin !== ''
    }
    await until(early, () => gateway.log, { pause: 1 })
    t.equal(signalled.size, workers === 1 ? 1 : 1 + workers)
    const pids = [...signalled]
    t.same([gateway.pid, ...workersOf(gateway.pid)].toSorted(), pids.toSorted(), 'every process goes on')
    t.equal((await fetch(`${gateway.origin}/docs/a`)).status, 502)
    const ports = Array.from(
      gateway.log.matchAll(/Debugger listening on ws:\/\/[\d.]+:(\d+)/g),
      ([, port]) => port,
    )
    const isOpen = (port = '') =>
      fetch(`http://127.0.0.1:${port}/json`).then(
        () => true,
        () => false,
      )
    const isGone = async () => !(await Promise.all(ports.map(isOpen))).includes(true)
    await until(isGone, `the end of the debugger at ${ports.join(', ')}`)
    t.equal(await gateway.end(), 0)
  })

t.test('the program of a worker in the package, which has no file before it', async (t) => {
  const worker = fork(fileURLToPath(new URL('../../src/worker.ts', import.meta.url)), {
    execArgv: ['--disable-sigusr1'],
  })
  const ended = once(worker, 'exit')
  const { pid = 0 } = worker
  await until(() => catches(pid, constants.signals.SIGUSR2), 'the worker has loaded')
  worker.kill('SIGUSR2')
  worker.send({ method: 'alive', argument: undefined, id: 1 })
  t.same(await Promise.race([once(worker, 'message').then(([message]) => message), ended]), {
    answer: 1,
    value: true,
    failed: null,
  })
  worker.disconnect()
  t.same(await ended, [1, null], 'it ends without the primary')
})
