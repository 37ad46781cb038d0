/** `npm run test:soak`: what it prints, and how it ends. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { firstSeed, regressions } from './simulation/seeds.ts'

const SOAK = fileURLToPath(new URL('simulation/soak.ts', import.meta.url))

async function soak(...options: string[]) {
  const child = spawn(process.execPath, [SOAK, ...options])
  const output = [text(child.stdout), text(child.stderr)]
  const [code] = (await once(child, 'close')) as [number | null]
  const [printed = '', errors = ''] = await Promise.all(output)
  return { code, printed, errors }
}

t.test('wrong options', async (t) => {
  const faults: Readonly<Record<string, string[]>> = {
    'takes --minutes M, to explore for so long, or --seed N': [],
    '--minutes: "0" is not a number that it takes': ['--minutes', '0'],
    '--seed: "4294967296" is not a number that it takes': ['--seed', '4294967296'],
    'not both': ['--minutes', '1', '--schedules', '1'],
    'no variant "x"': ['--seed', '1', '--variant', 'x'],
    'Unexpected argument': ['1'],
  }
  for (const [message, options] of Object.entries(faults)) {
    const { code, errors } = await soak(...options)
    t.equal(code, 2, message)
    t.match(errors, `test:soak: `)
    t.match(errors, message)
  }
})

t.test('explores until the time is over', async (t) => {
  const { code, printed } = await soak('--minutes', '0.001', '--seed', '4294967290')
  t.equal(code, 0)
  t.match(
    printed,
    /^no violation in 250 schedules: \d+ decisions, \d+ writes, \d+ events, from seed 4294967290, /m,
  )
})

t.test('a schedule that fails is shrunk, and printed with the command that repeats it', async (t) => {
  const variant = 'no wait for acknowledgements'
  const { code, printed } = await soak('--schedules', '250', '--seed', '1', '--variant', variant)
  t.equal(code, 1)
  const [, seed = ''] =
    /^to repeat: npm run test:soak -- --seed (\d+) --variant "no wait for/m.exec(printed) ?? []
  t.match(printed, new RegExp(`^seed ${seed}: stale: `, 'm'))
  t.match(printed, /^ +\d+\.\d\d stale: .* was answered$/m)
  t.match(printed, /^a violation in \d+ schedules: /m)
  const again = await soak('--seed', seed, '--variant', variant)
  t.equal(again.code, 1)
  t.match(again.printed, /^a violation in 1 schedules: /m)
})

t.test('the first seed depends on the commit and on the day', async (t) => {
  const day = new Date('2026-11-28T23:59:59Z')
  const { seed, origin } = firstSeed('0123456789abcdef', day)
  t.equal(origin, 'commit 0123456789ab on 2026-11-28')
  t.equal(firstSeed('0123456789abcdef', new Date('2026-11-28T00:00:00Z')).seed, seed)
  t.not(firstSeed('0123456789abcdef', new Date('2026-11-29T00:00:00Z')).seed, seed)
  t.not(firstSeed('123456789abcdef0', day).seed, seed)
  t.equal(firstSeed(null, day).origin, '2026-11-28')
})

t.test('a line of the regressions is a seed and a reason', async (t) => {
  t.same(regressions('# why\n\n17 two Seats\n'), [{ seed: 17, reason: 'two Seats' }])
  for (const line of ['17', 'x reason', '4294967296 reason'])
    t.throws(() => regressions(line), /not "SEED REASON"/)
})
