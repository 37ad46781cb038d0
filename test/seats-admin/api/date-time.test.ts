import fc from 'fast-check'
import t from 'tap'
import { parseDateTime } from '../../../seats-admin/api/date-time.ts'

t.test('date-times of RFC 3339', async (t) => {
  const cases: Record<string, number> = {
    '1985-04-12T23:20:50.52Z': Date.UTC(1985, 3, 12, 23, 20, 50, 520),
    '1996-12-19T16:39:57-08:00': Date.UTC(1996, 11, 20, 0, 39, 57),
    '1937-01-01T12:00:27.87+00:20': Date.UTC(1937, 0, 1, 11, 40, 27, 870),
    '2030-01-01t00:00:00z': Date.UTC(2030, 0, 1),
    '2030-01-01T00:00:00-00:00': Date.UTC(2030, 0, 1),
    '2032-02-29T00:00:00Z': Date.UTC(2032, 1, 29),
    '2000-02-29T00:00:00Z': Date.UTC(2000, 1, 29),
    '2030-12-31T23:59:59.9999999Z': Date.UTC(2030, 11, 31, 23, 59, 59, 999),
    '2030-01-01T00:00:00.57Z': Date.UTC(2030, 0, 1, 0, 0, 0, 570),
    '9999-12-31T23:59:59.999Z': Date.UTC(9999, 11, 31, 23, 59, 59, 999),
  }
  for (const [text, time] of Object.entries(cases)) t.equal(parseDateTime(text), time, text)
})

t.test('invalid date-times', async (t) => {
  const none = [
    '',
    '2030',
    '2030-01-01',
    '2030-01-01T00:00Z',
    '2030-01-01T00:00:00',
    '2030-01-01 00:00:00Z',
    '2030-01-01T00:00:00 Z',
    '2030-01-01T00:00:00Z ',
    '2030-01-01T00:00:00Z\n',
    '2030-01-01T00:00:00.Z',
    '2030-01-01T00:00:00,5Z',
    '2030-01-01T00:00:00+0100',
    '2030-01-01T00:00:00+01',
    '2030-01-01T00:00:00+24:00',
    '2030-01-01T00:00:00+01:60',
    '2030-00-01T00:00:00Z',
    '2030-13-01T00:00:00Z',
    '2030-01-00T00:00:00Z',
    '2030-02-29T00:00:00Z',
    '2100-02-29T00:00:00Z',
    '2030-02-30T00:00:00Z',
    '2030-04-31T00:00:00Z',
    '2030-01-01T24:00:00Z',
    '2030-01-01T00:60:00Z',
    '2030-01-01T00:00:60Z',
    '2016-12-31T23:59:60Z',
    '0000-01-01T00:00:00Z',
    '0099-01-01T00:00:00Z',
    '9999-12-31T23:59:59-00:01',
    '+12030-01-01T00:00:00Z',
    '-2030-01-01T00:00:00Z',
    '٢٠٣٠-01-01T00:00:00Z',
    '1893456000',
    'Tue, 01 Jan 2030 00:00:00 GMT',
  ]
  for (const text of none) t.equal(parseDateTime(text), null, JSON.stringify(text))
})

t.test('output of toISOString parses back', async () => {
  const min = new Date('0100-01-01T00:00:00Z')
  const max = new Date('9999-12-31T23:59:59.999Z')
  fc.assert(
    fc.property(
      fc.date({ min, max, noInvalidDate: true }),
      (date) => parseDateTime(date.toISOString()) === date.getTime(),
    ),
  )
})
