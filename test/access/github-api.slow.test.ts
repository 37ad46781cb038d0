/** GitHub's own description of its API, of more than 1,200 operations: imported, checked, compared and kept up to date. */

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { CONFIG, folderWith } from '../cli/command-line.ts'
import { seatgateHere } from '../cli/in-process.ts'
import { GITHUB, isOneScreen, pathOf } from './descriptions.ts'

const found = pathOf(GITHUB)

t.test('GitHub', { skip: found === null ? `${GITHUB.package} can't be fetched` : false }, async (t) => {
  const config = CONFIG.replaceAll('trainings', 'github')
  const cwd = folderWith(t, { 'gateway.config.yaml': config, 'routes/x.txt': '' })
  const source = found ?? ''
  const run = (...args: string[]) => seatgateHere(cwd, args, { ACME_SECRET: '' })
  const imported = (...args: string[]) =>
    run('import', 'openapi', source, '--upstream', 'github', '--out', 'routes/github.yaml', ...args)

  const first = await imported()
  t.equal(first.code, 0, first.err)
  t.match(first.out, /^routes\/github\.yaml: 1[0-9]{3} entries$/m)
  const narrowed = first.err.match(
    /: \{\w+\} counts as one segment.*: the rest of a path can only be at its end$/gm,
  )
  t.equal(narrowed?.length, 4, 'parameters with slashes in the middle of paths')
  t.equal(first.err.trim().split('\n').length, 6, 'and one path that no table can express, and a note')
  t.match(first.err, /: \d\d permissions have "github\." before the resource/)
  t.match(first.err, 'compare/{base}...{head}: left out')

  const table = join(cwd, 'routes/github.yaml')
  const written = readFileSync(table, 'utf8')
  const checked = await run('check', '--no-env')
  t.equal(checked.code, 0, checked.err)
  t.equal(checked.err, '', 'it accepts its crossings')
  t.match(written, '\n# seatgate: accept crossing_entries\nroutes:\n')
  t.notMatch(written, /: (?:users|seats|blocks|access|routes|sessions|fleet):/)
  const lint = await run('lint', '--seats', 'seats.yaml')
  t.match(lint.err, 'seats.yaml:1:1: ')
  writeFileSync(
    join(cwd, 'seats.yaml'),
    'tenant: acme\nseats: { A: { spaces: [main], permissions: [repos:raed] } }\n',
  )
  const linted = await run('lint', '--seats', 'seats.yaml')
  t.ok(isOneScreen(linted.out), linted.out)
  t.match(linted.out, /permission_unasked \(1\)\n.*did you mean\n {4}"repos:read"/)

  const byHand = written
    .replace('GET /advisories: advisories:list', 'GET /advisories: security:browse')
    .replace(/\n {2}GET \/gists: .*/, '')
    .replace('routes:\n', 'routes:\n  GET /own: own:read\n')
  writeFileSync(table, byHand)
  const drift = await imported('--check')
  t.equal(drift.code, 3)
  t.equal(
    drift.out,
    'routes/github.yaml: no entry for GET /gists (gists:list)\nroutes/github.yaml: the description has no GET /own\n',
  )
  t.equal((await imported('--update')).code, 0)
  const updated = readFileSync(table, 'utf8')
  for (const line of ['GET /advisories: security:browse', 'GET /own: own:read', 'GET /gists: gists:list'])
    t.match(updated, `  ${line}`)
  t.equal((await imported('--check')).code, 3, 'GET /own is still no operation')

  writeFileSync(join(cwd, 'old.yaml'), config.replace('routes/*.yaml', 'old.txt'))
  writeFileSync(join(cwd, 'old.txt'), written)
  const { changes } = JSON.parse((await run('diff', 'old.yaml', '.', '--json')).out)
  t.same(
    changes.map(({ kind, pattern }: { kind: string; pattern: string }) => `${kind} ${pattern}`),
    ['added /own', 'changed /advisories'],
  )
})
