/** When `systemd-notify` is run, and with what: a script stands in for it, and writes down how it was called. */

import { type ChannelListener, subscribe, unsubscribe } from 'node:diagnostics_channel'
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { mock } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { ServiceManager } from '../../src/runtime/service-manager.ts'
import type { Log } from '../../src/telemetry/logger.ts'
import { until } from '../support/until.ts'
import { serverFolder } from '../support/servers/folder.ts'

interface StandIn {
  readonly env: NodeJS.ProcessEnv
  /** Processes that have been started, which is at once. */
  readonly begun: () => number
  readonly calls: () => string[]
  readonly warnings: Record<string, unknown>[]
  readonly log: Log
}

/** @param script of the stand-in; null: the machine has no `systemd-notify` */
function standIn(t: Test, script: string | null = 'echo "$@" >> "$0.calls"'): StandIn {
  const folder = serverFolder(t, 'service-manager')
  const program = join(folder, 'systemd-notify')
  if (script !== null) {
    writeFileSync(program, `#!/bin/sh\n${script}\n`)
    chmodSync(program, 0o755)
  }
  const calls = `${program}.calls`
  const warnings: Record<string, unknown>[] = []
  const logger = { warn: (fields: Record<string, unknown>) => warnings.push(fields) }
  return {
    begun: childrenOf(t),
    env: { NOTIFY_SOCKET: '/nowhere', PATH: `${folder}:/usr/bin:/bin`, ACME_SECRET: 'secret' },
    calls: () => (existsSync(calls) ? readFileSync(calls, 'utf8').trim().split('\n') : []),
    warnings,
    log: { logger } as unknown as Log,
  }
}

function childrenOf(t: Test): () => number {
  let begun = 0
  const count: ChannelListener = () => void begun++
  subscribe('child_process', count)
  t.teardown(() => unsubscribe('child_process', count))
  return () => begun
}

const BEAT = 20
const WATCHDOG_USEC = String(2 * BEAT * 1000)

interface HeldTime {
  pass(beats: number): Promise<void>
  /** Time passes until it holds. */
  until(holds: () => boolean, what: () => string): Promise<void>
}

/** The timers of the service are in the hands of the test. */
function holdTime(t: Test): HeldTime {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  const pass = async (beats: number) => {
    for (let beat = 0; beat < beats; beat++) {
      mock.timers.tick(BEAT)
      await turn()
    }
  }
  return {
    pass,
    until: (holds, what) => until(() => pass(1).then(holds), what),
  }
}

t.test('messages keep their order', async (t) => {
  const { env, calls, log } = standIn(t)
  const service = new ServiceManager(env, log)
  service.starting(1000)
  service.ready('one\ntwo')
  service.reloading()
  service.ready('again')
  await service.stopping(0)
  t.match(calls(), [
    'EXTEND_TIMEOUT_USEC=16000000 STATUS=starting',
    'READY=1 STATUS=one two',
    /^RELOADING=1 MONOTONIC_USEC=\d+ STATUS=reloading the configuration$/,
    'READY=1 STATUS=again',
    'STOPPING=1 EXTEND_TIMEOUT_USEC=15000000 STATUS=draining',
  ])
})

t.test('without a socket nothing is run', async (t) => {
  const time = holdTime(t)
  for (const socket of [undefined, '']) {
    const { env, begun, log } = standIn(t)
    const service = new ServiceManager({ ...env, NOTIFY_SOCKET: socket, WATCHDOG_USEC }, log)
    service.ready('listening')
    service.watch(() => true)
    await time.pass(3)
    t.equal(begun(), 0)
  }
})

t.test('its environment has no secrets', async (t) => {
  const { env, calls, log } = standIn(t, 'env >> "$0.calls"')
  await new ServiceManager(env, log).stopping(0)
  t.ok(calls().some((line) => line.startsWith('NOTIFY_SOCKET=')))
  // The test runner adds variables of its own, which name its files.
  t.notOk(calls().some((line) => /^[A-Z_]*SECRET=/.test(line)))
})

t.test('a failure is logged once, and does not stop further messages', async (t) => {
  for (const script of [null, 'echo "$@" >> "$0.calls"; exit 1']) {
    const { env, warnings, log } = standIn(t, script)
    const service = new ServiceManager(script === null ? { ...env, PATH: '/nowhere' } : env, log)
    service.ready('one')
    service.ready('two')
    await service.stopping(0)
    t.equal(warnings.length, 1)
    t.match(warnings[0], { cause: script === null ? /ENOENT/ : /systemd-notify/ })
  }
})

t.test('watchdog', async (t) => {
  await t.test('only while the process is healthy', async (t) => {
    const time = holdTime(t)
    const { env, begun, calls, log } = standIn(t)
    let [healthy, asked] = [true, 0]
    const service = new ServiceManager({ ...env, WATCHDOG_USEC }, log)
    service.watch(() => {
      asked++
      return healthy
    })
    await time.until(
      () => calls().length >= 2,
      () => `${calls().length} messages`,
    )
    t.match(calls(), ['WATCHDOG=1', 'WATCHDOG=1'])
    healthy = false
    const [sent, askedBefore] = [begun(), asked]
    await time.until(
      () => asked >= askedBefore + 5,
      () => `asked ${asked - askedBefore} times`,
    )
    t.equal(begun(), sent)
    healthy = true
    await time.until(
      () => begun() > sent,
      () => 'no further message',
    )
    healthy = false
    await service.stopping(0)
  })
  await t.test('of this process, or of the parent that has handed over to it', async (t) => {
    const time = holdTime(t)
    for (const [pid, beats] of [
      [process.pid, 1],
      [process.ppid, 1],
      [1_000_000_000, 0],
    ] as const) {
      const { env, begun, log } = standIn(t)
      let healthy = true
      const service = new ServiceManager({ ...env, WATCHDOG_USEC, WATCHDOG_PID: String(pid) }, log)
      service.watch(() => healthy)
      await time.pass(1)
      t.equal(begun(), beats, String(pid))
      healthy = false
      await service.stopping(0)
    }
  })
})
