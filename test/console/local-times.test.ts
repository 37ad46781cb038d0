/** Times in fields and in addresses, in several zones. */

import t from 'tap'

// The modules of the console are checked with the types of browsers, by a configuration of their own.
const MODULE: string = '../../seats-admin/console/local-times.js'
const { localOf, utcOf }: { localOf(time: string): string; utcOf(local: string): string } = await import(
  MODULE
)

const { env } = process
const ZONES = ['UTC', 'Asia/Tokyo', 'America/New_York', 'Asia/Kathmandu', 'Pacific/Chatham']

t.test('what a field has is the same time in an address, in each zone', (t) => {
  for (const zone of ZONES) {
    env['TZ'] = zone
    for (const local of ['2026-11-28T10:00', '2026-02-28T23:59', '2026-07-01T00:00', '0099-01-01T00:00']) {
      const time = utcOf(local)
      t.match(time, /^[\d-]+T[\d:.]+Z$/, `${zone} ${local}`)
      t.equal(localOf(time), local, `${zone} ${time}`)
    }
    t.equal(localOf('2026-11-28T10:00:07Z').slice(-3), ':07', 'the seconds of a link stay')
  }
  t.end()
})

t.test('an address is the same time in each zone', (t) => {
  const shown = ZONES.map((zone) => {
    env['TZ'] = zone
    return localOf('2026-11-28T01:30:00Z')
  })
  t.same(shown, [
    '2026-11-28T01:30',
    '2026-11-28T10:30',
    '2026-11-27T20:30',
    '2026-11-28T07:15',
    '2026-11-28T15:15',
  ])
  env['TZ'] = 'Asia/Tokyo'
  t.equal(localOf('2026-11-28T10:30:00+09:00'), '2026-11-28T10:30')
  t.end()
})

t.test('what is no time with a zone is none', (t) => {
  for (const text of [
    '',
    'x',
    '2026-11-28T10:00',
    '2026-11-28',
    '2026-13-28T10:00:00Z',
    '2026-11-28T10:00:00 Z',
    '1',
  ])
    t.equal(localOf(text), '', text)
  for (const text of ['', 'x']) t.equal(utcOf(text), '', text)
  t.end()
})
