/** Standard output that accepts nothing, at further commands than in `output.test.ts`. */

import t from 'tap'
import { noFullDisk, runInto } from './into.ts'

t.test('a pipe without a reader', async (t) => {
  for (const args of [
    ['routes'],
    ['routes', '--json'],
    ['check'],
    ['explain', 'GET', '/docs/a'],
    ['explain', 'GET', '/docs/a', '--json'],
    ['--help'],
    ['routes', '--help'],
  ]) {
    const { code, err } = await runInto(t, 'gone', args)
    t.equal(code, 0, args.join(' '))
    t.match(err, /^(?:note: [^\n]*\n)?$/)
  }
})

t.test('a full disk', { skip: noFullDisk }, async (t) => {
  for (const args of [['routes'], ['check'], ['--help']]) {
    const { code, err } = await runInto(t, 'full', args)
    t.equal(code, 1, args.join(' '))
    t.match(err, /^seatgate: standard output can't be written: ENOSPC[^\n]*\n$/)
  }
  const made = await runInto(t, 'full', ['bootstrap', '--tenant', 'acme'])
  t.equal(made.code, 1)
  t.match(made.err, /API key \S+ was created but could not be printed: .*ENOSPC/)
})
