/** `seatgate init`: what it writes, and what it refuses. */

import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { loadWithTables } from '../../src/cli/load-tables.ts'
import { filesOf } from '../../src/cli/init.ts'
import { folderWith, MAIN } from './command-line.ts'
import { seatgateHere } from './in-process.ts'

const NAMES = ['.env', '.gitignore', 'gateway.config.yaml', 'routes/example.yaml']

const written = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name !== 'routes')
    .sort()

t.test('four files that pass the check, in this folder or in one that it creates', async (t) => {
  for (const [args, folder, config] of [
    [[], '.', ''],
    [['.'], '.', ''],
    [['my gate/one'], 'my gate/one', " --config 'my gate/one/gateway.config.yaml'"],
    [
      ['--tenant', '7-up', '--upstream', 'https://[::1]:8443', '--', '-x'],
      '-x',
      ' --config ./-x/gateway.config.yaml',
    ],
  ] as const) {
    const cwd = folderWith(t, {})
    const { code, out, err } = await seatgateHere(cwd, ['init', ...args])
    t.match({ code, err }, { code: 0, err: '' }, folder)
    const tenant = folder === '-x' ? '7-up' : 'acme'
    t.same(out.trimEnd().split('\n').slice(-3), [
      `  seatgate check${config}`,
      `  seatgate bootstrap --tenant ${tenant}${config}`,
      `  seatgate start${config}`,
    ])
    const at = (name: string) => join(cwd, folder, name)
    t.same(written(at('')), NAMES)
    t.equal(statSync(at('.env')).mode & 0o777, 0o600)
    t.match(
      readFileSync(at('.gitignore'), 'utf8'),
      /^\.env\n\*\.key$/m,
      'as in the README: --out my/admin.key',
    )
    t.match(readFileSync(at('gateway.config.yaml'), 'utf8'), /^ops: /m)
    t.match(
      await seatgateHere(cwd, ['check', '--config', at('gateway.config.yaml')]),
      { code: 0, out: /no faults \(2 routes, 1 upstream\)/, err: '' },
      'without a warning',
    )
  }
})

t.test('each secret is a new one, and is not printed', async (t) => {
  const secrets = new Set<string>()
  for (let i = 0; i < 2; i++) {
    const cwd = folderWith(t, {})
    const { out } = await seatgateHere(cwd, ['init'])
    const secret = /^ACME_TOKEN_SECRET=(.*)$/m.exec(readFileSync(join(cwd, '.env'), 'utf8'))?.[1] ?? ''
    t.ok(secret.length >= 32)
    t.notOk(out.includes(secret))
    secrets.add(secret)
  }
  t.equal(secrets.size, 2)
})

t.test('npx is part of the commands where it ran', async (t) => {
  for (const env of [{ npm_command: 'exec' }, { npm_lifecycle_event: 'seatgate' }]) {
    const { out } = await seatgateHere(folderWith(t, {}), ['init'], env)
    t.match(out, /^ {2}npx seatgate check$/m)
  }
})

t.test('the start line is that of the README and of the manual', async (t) => {
  const args = ['init', 'my', '--tenant', 'acme', '--upstream', 'http://127.0.0.1:9001']
  const { out } = await seatgateHere(folderWith(t, {}), args, { npm_command: 'exec' })
  const start = /^ {2}(npx seatgate start .*)$/m.exec(out)?.[1] ?? 'no line'
  for (const page of ['README.md', 'docs/administration.md']) {
    const text = readFileSync(new URL(`../../${page}`, import.meta.url), 'utf8')
    t.ok(text.includes(`\n${start} > my/gateway.log &\n`), page)
    t.notMatch(text, /npm start/, page)
  }
  const installed = await seatgateHere(folderWith(t, {}), args, {
    npm_command: undefined,
    npm_lifecycle_event: undefined,
  })
  const global = /^ {2}(seatgate start .*)$/m.exec(installed.out)?.[1] ?? 'no line'
  t.ok(readFileSync(new URL('../../README.md', import.meta.url), 'utf8').includes(`\`${global}\``))
})

t.test('any tenant id is a key, and has a variable', async (t) => {
  for (const tenant of ['acme', '7', '0x1f', '1e3', 'null', 'true', 'a-b', 'a'.repeat(63)]) {
    const files = filesOf({ tenant, upstream: 'http://a.example', schemas: null })
    const cwd = folderWith(t, Object.fromEntries(files.map(({ name, text }) => [name, text])))
    const { config } = await loadWithTables(join(cwd, 'gateway.config.yaml'), {})
    t.same([...config.tenants.keys()], [tenant])
  }
})

t.test('editors find the schemas of a package in the folder itself', async (t) => {
  const schemas = 'node_modules/seatgate/src/config'
  const [, , routes, config] = filesOf({ tenant: 'acme', upstream: 'http://a.example', schemas })
  const at = (text = '') => /^# yaml-language-server: \$schema=(.*)\n/.exec(text)?.[1]
  t.equal(at(config?.text), `./${schemas}/gateway.schema.json`)
  t.equal(at(routes?.text), `../${schemas}/routes.schema.json`)
})

t.test('overwrites nothing: names what is there, and writes none', async (t) => {
  for (const name of NAMES) {
    const cwd = folderWith(t, { [name]: 'mine' })
    t.same(await seatgateHere(cwd, ['init']), {
      code: 1,
      out: '',
      err: `seatgate init: nothing is written, because this file is there already: ${name}\n`,
    })
    t.same(written(cwd), [name])
    t.equal(readFileSync(join(cwd, name), 'utf8'), 'mine')
  }
  const all = folderWith(t, Object.fromEntries(NAMES.map((name) => [name, ''])))
  const { err } = await seatgateHere(all, ['init'])
  for (const name of NAMES) t.ok(err.includes(name), name)

  const linked = folderWith(t, {})
  symlinkSync('/nowhere/at/all', join(linked, '.env'))
  t.match(await seatgateHere(linked, ['init']), { code: 1, err: /there already: \.env\n/ }, 'a dangling link')
})

t.test('a wrong value is bad usage, and nothing is written', async (t) => {
  for (const [args, message] of [
    [['--tenant', 'Acme'], /--tenant "Acme" is not 1 to 63/],
    [['--tenant', 'a_b'], /--tenant "a_b" is not/],
    [['--tenant=-a'], /--tenant "-a" is not/],
    [['--tenant='], /--tenant "" is not/],
    [['--tenant', 'a'.repeat(64)], /--tenant "a+…" is not/],
    [['--upstream', 'localhost:9001'], /--upstream "localhost:9001" does not begin with http/],
    [['--upstream', 'ftp://a'], /does not begin with http/],
    [['--upstream', 'http://'], /has a host that is not/],
    [['--upstream', 'http://a/b'], /must have scheme, host and port only/],
    [['--upstream', 'http://u:hush@a'], /--upstream URL has a user name or a password/],
    [['--upstream', 'http://a:99999'], /has a port that is not/],
    [['--upstream', 'http://${A}'], /has a host that is not/],
    [['--upstream='], /does not begin with http/],
    [[''], /DIR is empty/],
    [['a', 'b'], /unexpected argument "b"/],
    [['--tennant', 'a'], /unknown option --tennant \(did you mean "--tenant"\?\)/],
  ] as const) {
    const cwd = folderWith(t, {})
    const { code, out, err } = await seatgateHere(cwd, ['init', ...args])
    t.match({ code, out, err }, { code: 2, out: '', err: message }, args.join(' '))
    t.match(err, /\nusage: seatgate init /)
    t.notOk(err.includes('hush'))
    t.same(readdirSync(cwd), [])
  }
})

t.test('what a fault leaves behind is named', async (t) => {
  const file = folderWith(t, { my: '' })
  t.match(await seatgateHere(file, ['init', 'my']), { code: 1, out: '', err: /my.*No file was written\.\n$/ })

  const cwd = folderWith(t, { routes: 'a file' })
  const { code, err } = await seatgateHere(cwd, ['init'])
  t.equal(code, 1)
  t.match(err, /^seatgate init: routes\/example\.yaml cannot be written: /)
  t.match(err, /remove them before you try again: \.gitignore, \.env\n$/)
  t.same(written(cwd), ['.env', '.gitignore'])
})

t.test('a full disk', async (t) => {
  const disk = join(folderWith(t, {}), 'disk')
  mkdirSync(disk)
  const mount = 'mount -t tmpfs -o size=8k none "$0" && exec "$@"'
  const on = (...command: string[]) =>
    spawnSync('unshare', ['--map-root-user', '--mount', 'sh', '-c', mount, disk, ...command], {
      encoding: 'utf8',
    })
  if (on('true').status !== 0) return void t.pass({ skip: 'this machine does not allow mounting a disk' })
  const { status, stderr } = on(process.execPath, MAIN, 'init', disk)
  t.equal(status, 1)
  t.match(stderr, /routes\/example\.yaml cannot be written: ENOSPC/)
  t.match(stderr, /again: \S+\.gitignore, \S+\.env, \S+example\.yaml \(incomplete\)\n$/)
})
