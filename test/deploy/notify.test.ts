/** What a gateway tells systemd: by the real `systemd-notify`, to a real datagram socket. */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { hrtime } from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { CONFIG, folderWith, ROUTES } from '../cli/command-line.ts'
import { until } from '../runtime/workers/support.ts'
import { beatsOf, type NotifySocket, openNotifySocket, statesOf } from './notify-socket.ts'
import { missing } from './programs.ts'
import { startGateway, type Started } from './gateway.ts'

const skip = missing('systemd-notify', 'python3')
const BEAT = 200

interface Notifying {
  readonly socket: NotifySocket
  readonly gateway: Started
  readonly folder: string
}

async function start(t: Test, config = CONFIG): Promise<Notifying> {
  const socket = await openNotifySocket(t)
  const folder = folderWith(t, { 'gateway.config.yaml': config, 'routes/main.yaml': ROUTES })
  const gateway = startGateway(t, folder, { NOTIFY_SOCKET: socket.path, WATCHDOG_USEC: `${2 * BEAT * 1000}` })
  await until(() => statesOf(socket).length >= 2 && gateway.origin('front door') !== '')
  return { socket, gateway, folder }
}

t.test('start, reload, refused reload, stop', { skip }, async (t) => {
  const { socket, gateway, folder } = await start(t, `${CONFIG}startup_timeout: 20s\ndrain: 100s\n`)
  const states = () => statesOf(socket)
  t.same(states()[0], ['EXTEND_TIMEOUT_USEC=35000000', 'STATUS=starting'])
  t.match(states()[1], ['READY=1', /^STATUS=listening on http:\/\/127\.0\.0\.1:\d+$/])
  t.equal((await fetch(gateway.origin('front door'))).status, 404, 'it listened before it was ready')

  const before = hrtime.bigint() / 1000n
  gateway.process.kill('SIGHUP')
  await until(() => states().length === 4)
  t.match(states()[2], ['RELOADING=1', /^MONOTONIC_USEC=\d+$/, 'STATUS=reloading the configuration'])
  t.ok(BigInt(states()[2]?.[1]?.split('=')[1] ?? 0) >= before, 'its time is not before the signal')
  t.same(states()[3], ['READY=1', 'STATUS=running with configuration 2'])

  writeFileSync(join(folder, 'gateway.config.yaml'), 'lisen: nowhere\n')
  await until(() => states().length === 6)
  t.equal(states()[4]?.[0], 'RELOADING=1')
  t.same(states()[5], ['READY=1', 'STATUS=running with configuration 2: a reload was refused'])

  gateway.process.kill('SIGTERM')
  t.equal(await gateway.ended, 0)
  t.same(states().slice(6), [['STOPPING=1', 'EXTEND_TIMEOUT_USEC=115000000', 'STATUS=draining']])
})

for (const workers of [1, 2])
  t.test(`watchdog: ${workers} processes, while the main one runs`, { skip }, async (t) => {
    const { socket, gateway } = await start(t, `${CONFIG}workers: ${workers}\n`)
    await until(() => beatsOf(socket) >= 2)
    gateway.process.kill('SIGSTOP')
    await sleep(5 * BEAT)
    const frozen = beatsOf(socket)
    await sleep(5 * BEAT)
    t.equal(beatsOf(socket), frozen, 'a frozen process sends none')
    gateway.process.kill('SIGCONT')
    await until(() => beatsOf(socket) > frozen)
    gateway.process.kill('SIGTERM')
    t.equal(await gateway.ended, 0)
  })
