/** `seatgate diff`: what a change of route tables changes, for configurations of folders and of git's revisions. */

import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { CONFIG, folderWith, ROUTES, seatgate } from './command-line.ts'
import { seatgateHere } from './in-process.ts'

const diff = (cwd: string, ...args: string[]) => seatgateHere(cwd, ['diff', ...args], { ACME_SECRET: '' })

function git(cwd: string, ...args: string[]): void {
  const settings = ['user.name=test', 'user.email=test@acme.example', 'commit.gpgsign=false']
  execFileSync('git', [...settings.flatMap((each) => ['-c', each]), ...args], { cwd })
}

/** A repository whose first commit has these files; `below` is the configuration's folder in it. */
function repository(t: Test, files: Record<string, string>, below = '.'): string {
  const named = Object.entries(files).map(([name, text]) => [join(below, name), text])
  const cwd = folderWith(t, Object.fromEntries(named))
  git(cwd, 'init', '-q')
  git(cwd, 'add', '.')
  git(cwd, 'commit', '-qm', 'first')
  return join(cwd, below)
}

const FILES = { 'gateway.config.yaml': CONFIG, 'routes/a.yaml': ROUTES }
const table = (...lines: string[]) =>
  `upstream: trainings\nroutes:\n${lines.map((line) => `  ${line}\n`).join('')}`

t.test('equal tables', async (t) => {
  const cwd = repository(t, FILES)
  const { code, out } = await diff(cwd, 'git:HEAD', '.')
  t.equal(code, 0)
  t.equal(out, 'No request is answered differently: the tables are equal.\n')
  t.same(JSON.parse((await diff(cwd, '.', 'gateway.config.yaml', '--json')).out), {
    equal: true,
    changes: [],
  })
})

t.test('each kind of change', async (t) => {
  const before = table(
    'GET /a: p:q',
    'GET /b: p:q',
    'GET /c: public',
    'GET /d: p:q',
    'GET /e: p:q',
    'GET /f: p:q',
    'GET /h: authenticated',
  )
  const after = table(
    'GET /a: public',
    'GET /b: authenticated',
    'GET /c: p:q',
    'GET /d: r:s',
    'GET /f: { permission: p:q, max_body: 1KiB }',
    'GET /g: p:q',
    'GET /h: p:q',
  )
  const cwd = repository(t, { ...FILES, 'routes/a.yaml': before })
  writeFileSync(join(cwd, 'routes/a.yaml'), after)
  const { code, out } = await diff(cwd, 'git:HEAD', '.', '--json')
  t.equal(code, 3)
  const { equal, changes } = JSON.parse(out)
  t.equal(equal, false)
  t.same(
    changes.map(({ kind, pattern }: { kind: string; pattern: string }) => `${kind} ${pattern}`),
    [
      'became_public /a',
      'loosened /b',
      'added /g',
      'changed /d',
      'tightened /c',
      'tightened /h',
      'removed /e',
      'limits /f',
    ],
  )
  t.same(changes[0], {
    kind: 'became_public',
    method: 'GET',
    pattern: '/a',
    witness: { method: 'GET', path: '/a' },
    old: { permission: 'p:q', upstream: 'trainings', file: 'git:HEAD:routes/a.yaml', line: 3 },
    new: { permission: 'public', upstream: 'trainings', file: 'routes/a.yaml', line: 3 },
  })
  t.equal(changes[6].new, null)
})

t.test('another upstream', async (t) => {
  const config = CONFIG.replace('upstreams:', 'upstreams:\n  other: { targets: ["http://127.0.0.1:9"] }')
  const cwd = repository(t, { ...FILES, 'gateway.config.yaml': config })
  writeFileSync(join(cwd, 'routes/a.yaml'), ROUTES.replace('upstream: trainings', 'upstream: other'))
  const { changes } = JSON.parse((await diff(cwd, 'git:HEAD', '.', '--json')).out)
  t.same([...new Set(changes.map(({ kind }: { kind: string }) => kind))], ['rerouted'])
})

t.test('many changes', async (t) => {
  const lines = Array.from({ length: 120 }, (_, index) => `GET /r${index}: p:q`)
  const cwd = repository(t, { ...FILES, 'routes/a.yaml': table(...lines) })
  writeFileSync(join(cwd, 'routes/a.yaml'), table(...lines.map((line) => line.replace('p:q', 'public'))))
  const { out } = await diff(cwd, 'git:HEAD', '.')
  t.match(out, 'became_public (120)\n  p:q → public (120)\n    GET /r0 (routes/a.yaml:3)\n')
  t.match(out, /\n {4}… and 100 more\n--json has all .*\n120 differences: 120 became_public\n$/)
  t.ok(out.split('\n').length < 50, 'a screen')
  const markdown = (await diff(cwd, 'git:HEAD', '.', '--markdown')).out
  t.match(markdown, '… and 20 more: `seatgate diff --json` has all of them.')
  t.ok(markdown.length < 65_536)
  t.equal(JSON.parse((await diff(cwd, 'git:HEAD', '.', '--json')).out).changes.length, 120)
})

t.test('Seats tell which of two permissions is the wider one', async (t) => {
  const cwd = repository(t, { ...FILES, 'routes/a.yaml': table('GET /a: p:q', 'GET /b: r:s', 'GET /c: p:q') })
  writeFileSync(join(cwd, 'routes/a.yaml'), table('GET /a: r:s', 'GET /b: p:q', 'GET /c: t:u'))
  const seats = {
    One: { spaces: ['main'], permissions: ['p:q', 'r:s'] },
    Two: { spaces: ['main'], permissions: ['r:s'] },
    All: { spaces: ['main'], permissions: ['*'] },
    Three: { spaces: ['main'], permissions: ['t:u'] },
  }
  writeFileSync(join(cwd, 'seats.yaml'), JSON.stringify({ tenant: 'acme', seats }))
  const { changes } = JSON.parse((await diff(cwd, 'git:HEAD', '.', '--json', '--seats', 'seats.yaml')).out)
  t.match(changes, [
    { kind: 'loosened', pattern: '/a', seats: { gain: ['Two'], lose: [] } },
    { kind: 'changed', pattern: '/c', seats: { gain: ['Three'], lose: ['One'] } },
    { kind: 'tightened', pattern: '/b', seats: { gain: [], lose: ['Two'] } },
  ])
  const text = (await diff(cwd, 'git:HEAD', '.', '--seats', 'seats.yaml')).out
  t.match(text, '  gain Two\n')
  t.match(
    (await diff(cwd, 'git:HEAD', '.', '--seats', 'seats.yaml', '--markdown')).out,
    '| gain Three<br>lose One |',
  )
  writeFileSync(
    join(cwd, 'seats.yaml'),
    JSON.stringify({ tenant: 'acme', seats: { A: { spaces: ['a b'], permissions: ['p'] } } }),
  )
  const wrong = await diff(cwd, 'git:HEAD', '.', '--seats', 'seats.yaml')
  t.equal(wrong.code, 1)
  t.match(wrong.err, 'seats.yaml:1:42: ')
})

t.test('the Seats of the store', async (t) => {
  const cwd = repository(t, FILES)
  await seatgateHere(cwd, ['bootstrap', '--tenant', 'acme'])
  writeFileSync(join(cwd, 'routes/a.yaml'), ROUTES.replace('/v1/me: authenticated', '/v1/me: p:q'))
  const ran = await seatgateHere(cwd, ['diff', 'git:HEAD', '.', '--json', '--tenant', 'acme'])
  t.match(JSON.parse(ran.out).changes, [{ kind: 'tightened', seats: { gain: [], lose: [] } }])
  t.match((await seatgateHere(cwd, ['diff', '.', '.', '--tenant', 'other'])).err, 'has no tenant "other"')
})

t.test('a configuration below the root of the repository, and its tables beside it', async (t) => {
  const config = CONFIG.replace('routes/*.yaml', '../tables/**/*.yaml')
  const files = { 'gateway.config.yaml': config, '../tables/deep/a.yaml': ROUTES }
  const cwd = repository(t, files, 'gateways/one')
  const shown = join(cwd, '../tables/deep/a.yaml')
  writeFileSync(shown, ROUTES.replace('trainings:list', 'public'))
  const { code, out } = await diff(cwd, 'git:HEAD', '.', '--json')
  t.equal(code, 3)
  t.match(JSON.parse(out).changes, [{ old: { file: 'git:HEAD:gateways/tables/deep/a.yaml' } }])
  git(cwd, 'mv', 'gateway.config.yaml', 'other.yaml')
  t.equal((await diff(cwd, 'git:HEAD', 'other.yaml')).code, 3)
  git(cwd, 'commit', '-qam', 'second')
  t.equal((await diff(cwd, 'git:HEAD:other.yaml', 'git:HEAD~1')).code, 3)
})

t.test('symbolic links of the repository', async (t) => {
  const cwd = repository(t, FILES)
  mkdirSync(join(cwd, 'tables'))
  writeFileSync(join(cwd, 'tables/b.txt'), table('GET /b: p:q'))
  symlinkSync('../tables/b.txt', join(cwd, 'routes/b.yaml'))
  symlinkSync('b.yaml', join(cwd, 'routes/c.yaml'))
  git(cwd, 'add', '.')
  git(cwd, 'commit', '-qm', 'within')
  t.equal((await diff(cwd, 'git:HEAD', '.')).code, 0)
  rmSync(join(cwd, 'routes/b.yaml'))
  symlinkSync('/etc/passwd', join(cwd, 'routes/b.yaml'))
  git(cwd, 'add', '.')
  git(cwd, 'commit', '-qm', 'out')
  const { code, err } = await diff(cwd, 'git:HEAD', '.')
  t.equal(code, 1)
  t.match(err, 'routes/b.yaml is a symbolic link, and leads to no file of the revision')
})

t.test('without variables: what no answer depends on is left out', async (t) => {
  const config = `${CONFIG}redis: rediss://\${REDIS_HOST}?ca=missing.pem\n`
    .replace('sqlite:./seatgate.db', '${STORE}')
    .replace(
      'targets: [',
      'tls: { ca: missing.pem, cert: "${CERT}", key: "${KEY}" }, connections: "${MANY}", targets: [',
    )
    .replace('${TRAININGS_URL:-http://127.0.0.1:9}', 'https://${TARGET}')
  const cwd = repository(t, { ...FILES, 'gateway.config.yaml': config })
  const { code, err } = await diff(cwd, 'git:HEAD', '.')
  t.equal(code, 0, err)
  for (const [from, to, place] of [
    ['routes/*.yaml', '"${TABLES}"', /^gateway\.config\.yaml:8:10: .*\bTABLES\b/],
    [
      'connections:',
      'allow_semicolons: "${SEMICOLONS}", connections:',
      /^gateway\.config\.yaml:7:92: .*\bSEMICOLONS\b/,
    ],
    ['connections:', 'conections:', /^gateway\.config\.yaml:7:74: /],
    ['listen: 127.0.0.1:0', 'listen: 127.0.0.1', /^gateway\.config\.yaml:1:9: /],
  ] as const) {
    writeFileSync(join(cwd, 'gateway.config.yaml'), config.replace(from, to))
    const faulty = await diff(cwd, 'git:HEAD', '.')
    t.equal(faulty.code, 1, to)
    t.match(faulty.err, place)
  }
  writeFileSync(join(cwd, 'gateway.config.yaml'), config)
  writeFileSync(join(cwd, 'routes/a.yaml'), ROUTES.replace('trainings:list', '${PERMISSION}'))
  t.match((await diff(cwd, 'git:HEAD', '.')).err, /^routes\/a\.yaml:3:22: .*\bPERMISSION\b/)
})

t.test('a revision without git:', async (t) => {
  const cwd = repository(t, FILES)
  for (const [side, meant] of [
    ['HEAD', 'git:HEAD'],
    ['shadow:HEAD', 'shadow:git:HEAD'],
    ['HEAD:routes/a.yaml', 'git:HEAD:routes/a.yaml'],
  ] as const)
    t.match(await diff(cwd, '.', side), {
      code: 1,
      out: '',
      err: `git has a revision of this name: write ${meant}\n`,
    })
  t.match(await diff(cwd, 'none', '.'), { code: 1, err: /^none:1:1: no such file/ })
  writeFileSync(join(cwd, 'HEAD'), CONFIG)
  t.match(await diff(cwd, '.', 'HEAD'), { code: 0 }, 'a file of this name wins')
  const elsewhere = folderWith(t, FILES)
  t.match(await diff(elsewhere, 'HEAD', '.'), { code: 1, err: /^HEAD:1:1: no such file/ }, 'no repository')
})

t.test('faults', async (t) => {
  const cwd = repository(t, FILES)
  for (const [args, code, message] of [
    [['git:nothing', '.'], 1, 'git has no revision "nothing" here'],
    [['git:--all', '.'], 1, 'git has no revision "--all" here'],
    [['git:HEAD:nowhere.yaml', '.'], 1, 'git:HEAD has no file nowhere.yaml'],
    [['.', 'nowhere.yaml'], 1, 'nowhere.yaml:1:1: '],
    [['.'], 2, 'NEW is missing'],
  ] as const) {
    const ran = await diff(cwd, ...args)
    t.equal(ran.code, code, args.join(' '))
    t.match(ran.err, message)
  }
  const outside = folderWith(t, FILES)
  t.match((await diff(outside, 'git:HEAD', '.')).err, 'git has no revision "HEAD" here')
  const without = await seatgate(cwd, ['diff', 'git:HEAD', '.'], { PATH: '/nowhere' })
  t.match(without.err, 'git is not installed')
})

t.test('candidate tables, of the working directory and of a revision', async (t) => {
  const cwd = repository(t, {
    ...FILES,
    'gateway.config.yaml': `${CONFIG}shadow: { routes: [next/*.yaml] }\n`,
    'routes/a.yaml': table('GET /a: p:q'),
    'next/a.yaml': table('GET /a: public'),
  })
  const found = async (old: string, latest: string) => {
    const { code, out, err } = await diff(cwd, old, latest, '--json')
    return code === 1 ? err : JSON.parse(out).changes.map(({ kind }: { kind: string }) => kind)
  }
  t.same(await found('.', 'shadow:.'), ['became_public'])
  t.same(await found('shadow:gateway.config.yaml', 'shadow:git:HEAD'), [])
  t.same(await found('shadow:git:HEAD:gateway.config.yaml', '.'), ['tightened'])
  writeFileSync(join(cwd, 'routes/a.yaml'), table('GET /a: public'))
  t.same(await found('.', 'shadow:.'), [])
  writeFileSync(join(cwd, 'gateway.config.yaml'), CONFIG)
  t.match(await found('.', 'shadow:.'), /gateway\.config\.yaml has no candidate tables/)
})
