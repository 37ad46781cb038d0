/** The systemd unit: systemd itself finds it valid and confined, and its times fit those of the gateway. */

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { gatewaySchema } from '../../docs/generate/schema.ts'
import type { JsonSchema } from '../../seats-admin/model/json-schema.ts'
import { MAIN } from '../cli/command-line.ts'
import { deploy, missing, run } from './programs.ts'
import { serverFolder } from '../support/servers/folder.ts'

const text = readFileSync(join(deploy, 'seatgate.service'), 'utf8')
const skip = missing('systemd-analyze')
/** Of 100, as `systemd-analyze security` adds it up; 14 of them are the network, Unix sockets and V8's memory. */
const EXPOSURE = 15

/** The last value counts. */
const settings = new Map(
  [...text.matchAll(/^([A-Za-z]+)=(.*)$/gm)].map(([, name = '', value = '']) => [name, value] as const),
)

/** With the command of this clone: `verify` looks whether the program exists. */
function unitFile(t: Test): string {
  const folder = serverFolder(t, 'unit')
  const file = join(folder, 'seatgate.service')
  writeFileSync(file, text.replace('ExecStart=seatgate ', `ExecStart=${MAIN} `))
  return file
}

function seconds(text: unknown): number {
  return Number(/^(\d+)s$/.exec(String(text))?.[1])
}

/** @param path such as `limits.connections` */
function defaultOf(path: string): unknown {
  const find = ({ properties }: JsonSchema, key: string) => properties?.[key] ?? {}
  return path.split('.').reduce<JsonSchema>(find, gatewaySchema).default
}

t.test('systemd-analyze verify finds no fault', { skip }, async (t) => {
  t.same(run('systemd-analyze', 'verify', unitFile(t)), { code: 0, output: '' })
})

t.test('systemd-analyze security', { skip }, async (t) => {
  const { code, output } = run(
    'systemd-analyze',
    'security',
    '--offline=true',
    `--threshold=${EXPOSURE}`,
    unitFile(t),
  )
  t.equal(code, 0, output)
})

t.test('a unit with a fault is found', { skip }, async (t) => {
  const file = unitFile(t)
  writeFileSync(file, readFileSync(file, 'utf8').replace('KillMode=mixed', 'KillMode=gently'))
  t.match(run('systemd-analyze', 'verify', file).output, 'gently')
})

t.test('what V8 and notifications need', async (t) => {
  t.notOk(settings.has('MemoryDenyWriteExecute'))
  t.match(settings.get('RestrictAddressFamilies'), 'AF_UNIX')
  t.equal(settings.get('Type'), 'notify')
  t.equal(settings.get('NotifyAccess'), 'all')
  t.ok(seconds(settings.get('WatchdogSec')) > 0)
  t.equal(settings.get('ExecReload'), 'kill -HUP $MAINPID')
})

t.test('times and files are enough for the defaults', async (t) => {
  t.ok(seconds(settings.get('TimeoutStartSec')) > seconds(defaultOf('startup_timeout')))
  const stop = seconds(defaultOf('drain_delay')) + seconds(defaultOf('drain'))
  t.ok(seconds(settings.get('TimeoutStopSec')) > stop)
  t.ok(Number(settings.get('LimitNOFILE')) > 4 * Number(defaultOf('limits.connections')))
})
