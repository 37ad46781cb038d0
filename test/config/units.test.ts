import fc from 'fast-check'
import t from 'tap'
import { InvalidValue } from '../../src/config/invalid-value.ts'
import { duration, durationWithin, size } from '../../src/config/units.ts'
import { refuses } from './support.ts'

t.test('durations, in milliseconds', async (t) => {
  const cases = { '0s': 0, '250ms': 250, '30s': 30_000, '5m': 300_000, '1h': 3_600_000, '7d': 604_800_000 }
  for (const [text, expected] of Object.entries(cases)) t.equal(duration(text), expected, text)
  for (const text of [
    '',
    's',
    '-1s',
    '+1s',
    '1.5h',
    '1 s',
    ' 1s',
    '1s ',
    '1S',
    '1sec',
    '1h30m',
    '1e3s',
    '0x1s',
    '１s',
    '01s',
    '1s\n',
    '1_000ms',
    'Infinitys',
  ])
    refuses(t, duration, text)
  refuses(t, duration, '30')
  refuses(t, duration, '999999999999999d')
})

t.test('sizes, in bytes', async (t) => {
  const cases = {
    '0B': 0,
    '512B': 512,
    '64KiB': 65_536,
    '10MiB': 10_485_760,
    '1GiB': 1_073_741_824,
    '1TiB': 1024 ** 4,
  }
  for (const [text, expected] of Object.entries(cases)) t.equal(size(text), expected, text)
  for (const text of ['', '-1B', '1.5MiB', '1b', ' 1B', '1B ', '1KiB\n', 'unlimited', '1PiB'])
    refuses(t, size, text)
  for (const text of ['10MB', '10M', '10mb', '10mib', '10 MiB']) refuses(t, size, text)
  refuses(t, size, '10')
  refuses(t, size, '9007199254740992B')
  t.equal(size('9007199254740991B'), Number.MAX_SAFE_INTEGER)
})

t.test('a range includes its ends', async (t) => {
  const read = durationWithin('1s', '1m')
  t.equal(read('1s'), 1000)
  t.equal(read('60s'), 60_000)
  refuses(t, read, '999ms')
  refuses(t, read, '61s')
})

/** Half a surrogate pair as well. */
const anyText = fc
  .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 10 })
  .map((units) => String.fromCharCode(...units))

t.test('any text gives a safe integer, or an error that does not repeat it', async () => {
  fc.assert(
    fc.property(fc.oneof(anyText, fc.stringMatching(/^[0-9]{0,20}[a-zA-Z]{0,4}$/)), (text) =>
      [duration(text), size(text)].every((read) =>
        read instanceof InvalidValue
          ? text.length < 8 || !read.message.includes(text)
          : Number.isSafeInteger(read) && read >= 0,
      ),
    ),
  )
})
