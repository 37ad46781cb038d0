/** What a gateway tells systemd: by the real `systemd-notify`, to a real datagram socket. */

import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { hrtime } from 'node:process'
import t from 'tap'
import { until } from '../support/until.ts'
import { startNotifying } from './notify-socket.ts'
import { missing } from './programs.ts'

const skip = missing('systemd-notify', 'python3')

t.test('start, reload, refused reload, stop', { skip }, async (t) => {
  const top = ['startup_timeout: 2m', 'drain: 100s']
  const { socket, gateway } = await startNotifying(t, 200, { top })
  const { states } = socket
  const come = (count: number) =>
    until(
      () => states().length >= count,
      () => `${states().length} states, not ${count}: ${gateway.log}`,
    )
  t.same(states()[0], ['EXTEND_TIMEOUT_USEC=135000000', 'STATUS=starting'])
  t.match(states()[1], ['READY=1', /^STATUS=listening on http:\/\/127\.0\.0\.1:\d+$/])
  t.equal((await fetch(gateway.origin)).status, 404, 'it listened before it was ready')

  const before = hrtime.bigint() / 1000n
  gateway.signal('SIGHUP')
  await come(4)
  t.match(states()[2], ['RELOADING=1', /^MONOTONIC_USEC=\d+$/, 'STATUS=reloading the configuration'])
  t.ok(BigInt(states()[2]?.[1]?.split('=')[1] ?? 0) >= before, 'its time is not before the signal')
  t.same(states()[3], ['READY=1', 'STATUS=running with configuration 2'])

  // In one step: no reload reads half of it.
  writeFileSync(join(gateway.folder, 'next.yaml'), 'lisen: nowhere\n')
  renameSync(join(gateway.folder, 'next.yaml'), join(gateway.folder, 'gateway.config.yaml'))
  await come(6)
  t.equal(states()[4]?.[0], 'RELOADING=1')
  t.same(states()[5], ['READY=1', 'STATUS=running with configuration 2: a reload was refused'])

  await until(
    () => socket.beats() > 0,
    () => 'no WATCHDOG=1',
  )
  t.equal(await gateway.end(), 0)
  await socket.mark()
  t.same(states().slice(6), [['STOPPING=1', 'EXTEND_TIMEOUT_USEC=115000000', 'STATUS=draining']])
})
