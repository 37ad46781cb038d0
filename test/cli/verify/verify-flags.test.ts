/** The command line of `seatgate verify`: each wrong value is refused before anything is asked of a gateway. */

import t from 'tap'
import { folderWith } from '../command-line.ts'
import { seatgateHere } from '../in-process.ts'

/** No gateway: a request would fail with exit code 1. */
const URL = 'http://127.0.0.1:9'
const SECRET = 's'.repeat(40)
const folder = folderWith(t, { secret: `${SECRET}\n`, short: 'secret-of-this-test\n', raw: 'base64url:a+b' })
const env = { SEATGATE_API_KEY: 'sk_none', SEATGATE_URL: URL }

const WRONG: readonly (readonly [args: readonly string[], message: RegExp])[] = [
  [['--url', 'gateway'], /--url is not an address such as https:/],
  [['--url', 'https://user:pw@a.test'], /--url has a user or a password/],
  [['--url', 'https://a.test?x'], /--url is not an address/],
  [['--url', URL, `${URL}/`], /--url http:\/\/127.0.0.1:9 is given twice/],
  [['--space', 'a:b'], /--space is not a space id/],
  [['--admin-space', ''], /--admin-space is not a space id/],
  [['--duration', '60'], /--duration "60" has no unit/],
  [['--duration', '10ms'], /--duration "10ms" is too short/],
  [['--duration', '2d'], /--duration "2d" is too long/],
  [['--rate', '1'], /--rate "1" is not a rate such as 1\/s, 10\/m or 100\/h/],
  [['--rate', '0/s'], /--rate "0\/s" is not a rate/],
  [['--rate', '2/s'], /--rate "2\/s" is over 1\/s/],
  [['--rate', '61/m'], /--rate "61\/m" is over 1\/s/],
  [['--readers', '0'], /--readers "0" is not a number from 1 to 64/],
  [['--readers', '1.5'], /--readers "1.5" is not a number/],
  [['--writers', '0'], /--writers "0" is not a number from 1 to 8/],
  [['--writers=-1'], /--writers "-1" is not a number from 1 to 8/],
  [['--writers', 'five'], /--writers "five" is not a number/],
  [['--writers', '1000'], /--writers "1000" is not a number/],
  [
    ['--writers', '2', '--token-secret-file', 'secret', '--end-session', 'A'.repeat(22)],
    /--end-session and --writers exclude each other/,
  ],
  [['--tables', '--writers', '2'], /--tables and --writers exclude each other/],
  [['--tables=yes'], /--tables/],
  [['--during', ' '], /--during is empty/],
  [['--end-session', 'x', '--token-secret-file', 'secret'], /--end-session "x" is not the id of a session/],
  [['--end-session', 'A'.repeat(22)], /--end-session needs --token-secret-file/],
  [['--format', 'xml'], /--format "xml" is not text, json or junit/],
  [['--json', '--format', 'junit'], /--json and --format junit exclude each other/],
  [['--timeout', '1ms'], /--timeout is too short/],
  [['--api-key', 'two words'], /--api-key is not an API key/],
  [['--token-secret', 'secret'], /unknown option --token-secret\n/],
  [['here'], /unexpected argument "here"/],
]

t.test('bad usage', async (t) => {
  for (const [args, message] of WRONG) {
    const { code, out, err } = await seatgateHere(folder, ['verify', ...args], env)
    t.match({ code, out }, { code: 2, out: '' }, args.join(' '))
    t.match(err, message)
  }
  t.match(await seatgateHere(folder, ['verify'], { ...env, SEATGATE_URL: '' }), {
    code: 2,
    err: /--url is missing/,
  })
  t.match(await seatgateHere(folder, ['verify'], { ...env, SEATGATE_API_KEY: '' }), {
    code: 2,
    err: /--api-key is missing/,
  })
})

t.test('what cannot be read or written, with no secret in the message', async (t) => {
  const cases: readonly (readonly [args: readonly string[], message: RegExp])[] = [
    [['--token-secret-file', 'none'], /the file of --token-secret-file cannot be read: ENOENT/],
    [['--token-secret-file', 'short'], /the secret in short has 19 bytes: a secret must have at least 32/],
    [['--token-secret-file', 'raw'], /the secret in raw is not canonical base64url/],
    [['--ca', 'secret'], /secret contains no PEM certificate/],
    [[], /no program listens there \(ECONNREFUSED\)/],
    [['--each-instance'], /no program listens there \(ECONNREFUSED\)/],
  ]
  for (const [args, message] of cases) {
    const { code, out, err } = await seatgateHere(folder, ['verify', ...args], env)
    t.match({ code, out }, { code: 1, out: '' }, args.join(' '))
    t.match(err, message)
    t.notMatch(err, /secret-of-this-test|ssss|sk_none/)
  }
})

t.test('the key of a variable that is named', async (t) => {
  const named = { SEATGATE_URL: URL, OTHER: 'two words' }
  t.match(await seatgateHere(folder, ['verify', '--api-key', 'OTHER'], named), {
    code: 2,
    err: /--api-key is not an API key/,
  })
})
