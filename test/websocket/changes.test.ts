/** The record of changes until the next check: each once, within a bound, and none is missed. */

import t from 'tap'
import { Changes } from '../../src/pipeline/pending-changes.ts'

const seat = (key: string, tenant = 'acme') => ({ tenant, kind: 'seat', key, mark: 7 })

t.test('changes since the last check, by message or by reading', async (t) => {
  const changes = new Changes()
  t.equal(changes.sinceLastCheck(), null)
  changes.applyAnnouncement([seat('1')])
  changes.applyReading([seat('1'), seat('2')])
  const changed = changes.sinceLastCheck()
  t.match(changed, { all: false })
  t.ok(changed?.has('acme', 'seat', '1') && changed.has('acme', 'seat', '2'))
  t.notOk(changed?.has('acme', 'seat', '3'))
  t.notOk(changed?.has('globex', 'seat', '1'), 'another tenant')
  t.notOk(changed?.has('acme', 'seat-name', '1'), 'another kind')
  t.equal(changes.sinceLastCheck(), null, 'once')
})

t.test('anything may have changed', async (t) => {
  const lots = Array.from({ length: 10_001 }, (_, i) => seat(String(i), `tenant-${i % 3}`))
  const causes: Record<string, (changes: Changes) => void> = {
    'a reading with a gap to the last one': (changes) => changes.applyReading(null),
    'more than the bound': (changes) => changes.applyAnnouncement(lots),
    'a kind of a newer program': (changes) => changes.applyAnnouncement([{ ...seat('1'), kind: 'role' }]),
  }
  for (const [name, cause] of Object.entries(causes)) {
    const changes = new Changes()
    cause(changes)
    changes.applyAnnouncement([seat('later')])
    const changed = changes.sinceLastCheck()
    t.match(changed, { all: true }, name)
    t.ok(changed?.has('globex', 'session', 'x'), name)
    t.equal(changes.sinceLastCheck(), null, name)
  }
})
