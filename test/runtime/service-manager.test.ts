/** When `systemd-notify` is run, and with what: a script stands in for it, and writes down how it was called. */

import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { ServiceManager } from '../../src/runtime/service-manager.ts'
import type { Log } from '../../src/telemetry/logger.ts'
import { until } from './workers/support.ts'

interface StandIn {
  readonly env: NodeJS.ProcessEnv
  readonly calls: () => string[]
  readonly warnings: Record<string, unknown>[]
  readonly log: Log
}

/** @param script of the stand-in; null: the machine has no `systemd-notify` */
function standIn(t: Test, script: string | null = 'echo "$@" >> "$0.calls"'): StandIn {
  const folder = mkdtempSync(join(tmpdir(), 'seatgate-service-manager-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const program = join(folder, 'systemd-notify')
  if (script !== null) {
    writeFileSync(program, `#!/bin/sh\n${script}\n`)
    chmodSync(program, 0o755)
  }
  const calls = `${program}.calls`
  const warnings: Record<string, unknown>[] = []
  const logger = { warn: (fields: Record<string, unknown>) => warnings.push(fields) }
  return {
    env: { NOTIFY_SOCKET: '/nowhere', PATH: `${folder}:/usr/bin:/bin`, ACME_SECRET: 'secret' },
    calls: () => (existsSync(calls) ? readFileSync(calls, 'utf8').trim().split('\n') : []),
    warnings,
    log: { logger } as unknown as Log,
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
  for (const socket of [undefined, '']) {
    const { env, calls, log } = standIn(t)
    const service = new ServiceManager({ ...env, NOTIFY_SOCKET: socket, WATCHDOG_USEC: '2000' }, log)
    service.ready('listening')
    service.watch(() => true)
    await sleep(100)
    t.same(calls(), [])
  }
})

t.test('its environment has no secrets', async (t) => {
  const { env, calls, log } = standIn(t, 'env >> "$0.calls"')
  new ServiceManager(env, log).ready('listening')
  await until(() => calls().some((line) => line.startsWith('NOTIFY_SOCKET=')))
  // The test runner adds variables of its own, which name its files.
  t.notOk(calls().some((line) => /^[A-Z_]*SECRET=/.test(line)))
})

t.test('a failure is logged once, and does not stop further messages', async (t) => {
  for (const script of [null, 'echo "$@" >> "$0.calls"; exit 1']) {
    const { env, warnings, log } = standIn(t, script)
    const service = new ServiceManager(script === null ? { ...env, PATH: '/nowhere' } : env, log)
    service.ready('one')
    service.ready('two')
    await until(() => warnings.length > 0)
    await sleep(100)
    t.equal(warnings.length, 1)
    t.match(warnings[0], { cause: script === null ? /ENOENT/ : /systemd-notify/ })
  }
})

t.test('watchdog', async (t) => {
  const WATCHDOG_USEC = '40000'
  await t.test('only while the process is healthy', async (t) => {
    const { env, calls, log } = standIn(t)
    let healthy = true
    new ServiceManager({ ...env, WATCHDOG_USEC }, log).watch(() => healthy)
    await until(() => calls().length >= 2)
    t.match(calls(), ['WATCHDOG=1', 'WATCHDOG=1'])
    healthy = false
    await sleep(200)
    const before = calls().length
    await sleep(200)
    t.equal(calls().length, before)
    healthy = true
    await until(() => calls().length > before)
  })
  await t.test('of this process, or of the parent that has handed over to it', async (t) => {
    for (const [pid, beats] of [
      [process.pid, true],
      [process.ppid, true],
      [1_000_000_000, false],
    ] as const) {
      const { env, calls, log } = standIn(t)
      new ServiceManager({ ...env, WATCHDOG_USEC, WATCHDOG_PID: String(pid) }, log).watch(() => true)
      if (beats) await until(() => calls().length > 0)
      else await sleep(200)
      t.equal(calls().length > 0, beats, String(pid))
    }
  })
})
