/** `seatgate verify --tables` must find gateways that decide by the former tables after the 2xx of a push. */

import t from 'tap'
import type { RunRecord } from '../../src/cli/verify/run-record.ts'
import { hasMade } from '../cli/verify/verify-here.ts'
import { Pusher, tableOf } from '../tables/pushing.ts'
import { applyVariant, BREAKABLE } from './broken-fleet.ts'
import { startFleet } from './fleet.ts'
import { verifyUntil } from './verifying.ts'

const FILES = { 'main.yaml': tableOf('a:read') }
const FLIPS = ['deny in tables', 'allow in tables']

const fleet = await startFleet(t, { ...BREAKABLE, tablesFrom: 'store' })
const pusher = new Pusher(fleet.first.port, fleet.key)
t.teardown(() => pusher.close())
const pushed = await pusher.push(FILES)
t.equal(pushed.status, 200, pushed.body)

t.test('a gateway that acknowledges tables before it decides by them', async (t) => {
  const isStale = (record: RunRecord) =>
    record
      .report([])
      .violations.some(({ kind, write }) => kind === 'stale' && FLIPS.includes(write.operation))
  let broken: Promise<unknown> | null = null
  const report = await verifyUntil(
    t,
    fleet,
    (record) => {
      if (!hasMade(record, 'make key')) return false
      broken ??= applyVariant('activates-tables-late', fleet.at(1))
      return isStale(record)
    },
    { tables: true },
  )
  await broken
  t.ok(report.violations.length > 0)
  for (const { kind, place, subject, write } of report.violations) {
    t.equal(kind, 'stale')
    t.equal(place, `http://127.0.0.1:${fleet.at(1).port}`)
    t.match(subject, /-entry$/)
    t.ok(FLIPS.includes(write.operation), write.operation)
  }
  // The run was ended in the middle: its file is gone.
  t.same((await pusher.read()).json.files, FILES)
})
