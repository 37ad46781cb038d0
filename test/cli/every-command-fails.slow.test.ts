/** What every command says when it fails: nothing on standard output, and a sentence with what to do. */

import t, { type Test } from 'tap'
import { folderWith, type Ran } from './command-line.ts'
import { argsOf, FILES, folderWithStore, PLACED, ROWS, wellSaid } from './every-command.ts'
import { seatgateHere } from './in-process.ts'

/** The last line of `check`. */
const SUMMARY = /^\S+: \d+ faults?(?:, \d+ warnings?)?$/

const withStore = await folderWithStore(t)

/** Nothing on standard output, and a sentence. */
function failed(t: Test, ran: Ran, code: number, line: string): void {
  const what = `${line} (${code})`
  t.equal(ran.code, code, what)
  t.equal(ran.out, '', what)
  wellSaid(t, ran, what)
  const [first = '', ...others] = ran.err
    .trimEnd()
    .replace(/^note: .*\n/, '')
    .split('\n')
  t.match(first, PLACED.test(first) ? PLACED : /^seatgate [a-z-]+(?: [a-z]+)?: /, what)
  t.ok(first.length > 20 && ran.err.endsWith('\n'), `${what}: ${first}`)
  if (code === 2) t.match(others.join('\n'), /^usage: seatgate /, what)
  else
    t.ok(
      others.every((line) => PLACED.test(line) || SUMMARY.test(line)),
      `${what}: one line a fault`,
    )
}

for (const [name, { withoutStore = 0, ...row }] of Object.entries(ROWS))
  t.test(name, async (t) => {
    const [first = ''] = row.works
    const { broken = `${first} --config broken.yaml` } = row
    const bare = folderWith(t, FILES)
    const missing = await seatgateHere(bare, argsOf(first))
    if (withoutStore === 1) {
      failed(t, missing, 1, first)
      t.match(
        missing.err,
        /there is no store at \S+(?:: run seatgate bootstrap or start first\n$| yet: no Seat or API key exists\n)/,
      )
    } else {
      t.equal(missing.code, withoutStore, missing.err)
      wellSaid(t, missing, first)
    }
    if (broken !== null) {
      failed(t, await seatgateHere(withStore, argsOf(broken)), 1, broken)
      const nowhere = broken.replace('broken.yaml', 'nowhere.yaml')
      const ran = await seatgateHere(withStore, argsOf(nowhere))
      failed(t, ran, 1, nowhere)
      t.match(ran.err, 'nowhere.yaml:1:1: ')
    }
    if (row.unknownTenant !== undefined) {
      const ran = await seatgateHere(withStore, argsOf(row.unknownTenant))
      failed(t, ran, 1, row.unknownTenant)
      t.match(ran.err, /(?:gateway\.config|scim)\.yaml has no tenant "nobody" \(it has acme\)\n$/)
    }
    for (const line of [...row.wrong, `${first} --nonsense`])
      failed(t, await seatgateHere(withStore, argsOf(line)), 2, line)
  })
