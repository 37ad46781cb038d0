/** `seatgate replay` as a user runs it: exit codes, standard input, faults of files, signals. */

import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { appendFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { Writable } from 'node:stream'
import { mock } from 'node:test'
import { gzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { Progress } from '../../src/cli/replay/progress.ts'
import { until } from '../support/until.ts'
import { CONFIG, folderWith, MAIN, outcomeOf, ROUTES } from './command-line.ts'
import { seatgateHere } from './in-process.ts'

const SEATS = JSON.stringify({
  tenant: 'acme',
  seats: { Viewer: { spaces: ['main'], permissions: ['trainings:list'] } },
})
const line = (more: object) =>
  `${JSON.stringify({ level: 'info', time: '2026-01-05T00:00:00.003Z', request_id: 'id', method: 'GET', path: '/v1/trainings', status: 200, code: 'allow', route: 'GET /v1/trainings', upstream: 'trainings', permission: 'trainings:list', tenant: 'acme', user: 'alice', auth: 'bearer', issued_at: 17, space: 'main', source: 'memory', seats: ['Viewer:grants'], ...more, msg: 'request' })}\n`
const SAME = line({})
const LOST = line({ seats: ['Gone:grants'], user: 'bob\u001b[31m' })
const NO_VARIABLES = { ACME_SECRET: '' }

function folder(t: Test, log: string | Buffer): string {
  const cwd = folderWith(t, { 'gateway.config.yaml': CONFIG, 'routes/a.yaml': ROUTES, 'seats.yaml': SEATS })
  writeFileSync(join(cwd, 'a.log'), log)
  return cwd
}

const run = (cwd: string, ...args: string[]) =>
  seatgateHere(cwd, ['replay', ...args, '--seats', 'seats.yaml'], NO_VARIABLES)

/** In a process of its own, as it has the standard streams. */
function replaying(cwd: string, log: string, ...args: string[]) {
  const child = spawn(process.execPath, [MAIN, 'replay', log, '--seats', 'seats.yaml', ...args], { cwd })
  return { child, ended: outcomeOf(child) }
}

t.test('exit codes and formats', async (t) => {
  const cwd = folder(t, SAME + SAME)
  t.match(await run(cwd, 'a.log'), { code: 0, out: '2 requests: 2 same, 0 changed, 0 not judged\n', err: '' })
  appendFileSync(join(cwd, 'a.log'), LOST)
  writeFileSync(join(cwd, 'b.log.1'), gzipSync(LOST + 'seatgate: listening\n'))
  const changed = await run(cwd, 'a.log', 'b.log.1', '--json')
  t.match(changed, { code: 3, err: '' })
  t.same(JSON.parse(changed.out), {
    requests: 5,
    same: 2,
    changed: 2,
    unjudged: { not_json: 1 },
    groups: [
      {
        from: 'allow',
        to: 'permission_denied',
        method: 'GET',
        route: 'GET /v1/trainings',
        count: 2,
        callers: [{ caller: 'acme/bob\u001b[31m', count: 2 }],
      },
    ],
  })
  t.notMatch(changed.out, '\u001b')
  const text = await run(cwd, 'a.log')
  t.match(text, { code: 3, out: /^allow → deny: 1 request\n/, err: '' })
  t.match(text.out, 'acme/bob\\u001b[31m 1')
  t.match(await run(cwd, 'a.log', '--markdown'), { code: 3, out: /^### Replay: 3 requests/ })
})

t.test('edited tables, with the Seats of the store', async (t) => {
  const cwd = folder(
    t,
    SAME + line({ path: '/v1/me', permission: 'authenticated', seats: undefined, space: undefined }),
  )
  const missing = await seatgateHere(cwd, ['replay', 'a.log'])
  t.match(missing, { code: 1, out: '', err: /there is no store at/ })
  await seatgateHere(cwd, ['bootstrap', '--tenant', 'acme'])
  const now = JSON.parse((await seatgateHere(cwd, ['replay', 'a.log', '--json'])).out)
  t.match(now, { same: 1, changed: 1, groups: [{ from: 'allow', to: 'permission_denied' }] })
  mkdirSync(join(cwd, 'next/routes'), { recursive: true })
  writeFileSync(join(cwd, 'next/gateway.config.yaml'), CONFIG)
  writeFileSync(join(cwd, 'next/routes/a.yaml'), ROUTES.replace('trainings:list', 'public'))
  const next = await run(cwd, 'a.log', '--config', 'next/gateway.config.yaml')
  t.match(next, { code: 0, out: '2 requests: 2 same, 0 changed, 0 not judged\n' })
})

t.test('standard input, plain and compressed', async (t) => {
  const cwd = folder(t, '')
  for (const input of [SAME + LOST, gzipSync(SAME + LOST)]) {
    const { child, ended } = replaying(cwd, '-', '--json')
    child.stdin.end(input)
    const { code, out } = await ended
    t.equal(code, 3)
    t.match(JSON.parse(out), { requests: 2, same: 1, changed: 1 })
  }
  t.match(await run(cwd, '-', '-'), { code: 2, err: /standard input can be read once/ })
  t.match(await run(cwd), { code: 2, err: /LOG is missing/ })
  t.match(await run(cwd, 'a.log'), { code: 1, out: /^0 requests/ })
})

t.test('faults', async (t) => {
  const cwd = folder(t, SAME)
  t.match(await run(cwd, 'a.log', 'none.log'), {
    code: 1,
    out: '',
    err: /^seatgate replay: none\.log cannot be read: ENOENT/,
  })
  t.match(await run(cwd, 'routes'), {
    code: 1,
    out: '',
    err: /^seatgate replay: routes cannot be read: EISDIR/,
  })
  t.match(await run(cwd, 'a.log', '--config', 'none.yaml'), { code: 1, out: '', err: /none\.yaml/ })
  writeFileSync(join(cwd, 'cut.log'), gzipSync(SAME.repeat(9999)).subarray(0, -9))
  const cut = await run(cwd, 'cut.log', 'a.log', '--json')
  t.match(cut, {
    code: 1,
    err: /^cut\.log cannot be read to its end \(Z_BUF_ERROR[^\n]*\n$/,
  })
  t.match(JSON.parse(cut.out), { changed: 0 })
  t.ok(JSON.parse(cut.out).requests >= 1, 'the other log counts')
  writeFileSync(
    join(cwd, 'long.log'),
    Buffer.concat([Buffer.alloc(11_000_000, 'x'), Buffer.from(`\n${SAME}`)]),
  )
  t.same(JSON.parse((await run(cwd, 'long.log', '--json')).out), {
    requests: 2,
    same: 1,
    changed: 0,
    unjudged: { line_too_long: 1 },
    groups: [],
  })
  rmSync(join(cwd, 'long.log'))
  writeFileSync(join(cwd, 'seats.yaml'), SEATS.replace('acme', 'other'))
  t.match(await run(cwd, 'a.log'), { code: 1, out: '', err: /has no tenant "other"/ })
})

t.test('an interrupt, and a reader that goes', async (t) => {
  const cwd = folder(t, LOST)
  const interrupted = replaying(cwd, '-')
  // It reads when the pipe has taken more than a pipe holds.
  await new Promise<void>((resolve) => interrupted.child.stdin.write(SAME.repeat(5000), () => resolve()))
  interrupted.child.kill('SIGINT')
  t.same(await interrupted.ended, { code: 130, out: '', err: '' })
  const gone = replaying(cwd, 'a.log')
  gone.child.stdout.destroy()
  t.match(await gone.ended, { code: 0, err: '' })
})

const noTerminal = spawnSync('script', ['--version']).status === 0 ? false : 'this machine has no script(1)'

t.test('progress, on a terminal only', { skip: noTerminal }, async (t) => {
  const cwd = folder(t, '')
  execFileSync('mkfifo', [join(cwd, 'pipe')])
  const command = `${process.execPath} ${MAIN} replay pipe --seats seats.yaml --json >result`
  const child = spawn('script', ['-qefc', command, '/dev/null'], {
    cwd,
    env: { ...process.env, ...NO_VARIABLES },
  })
  let shown = ''
  child.stdout.on('data', (chunk) => (shown += chunk))
  const ended = new Promise((resolve) => child.on('close', resolve))
  const log = await open(join(cwd, 'pipe'), 'w')
  await until(
    async () => {
      await log.write(SAME)
      return /\r\u001b\[K[\d,]+ lines, [\d,]+ per second/.test(shown)
    },
    () => `no progress is shown: ${shown}`,
  )
  await log.close()
  t.equal(await ended, 0)
  t.match(shown, /\r\u001b\[K$/, 'nothing stays')
})

t.test('progress: the share of the files', async (t) => {
  let now = 1000
  mock.method(performance, 'now', () => now)
  t.teardown(() => mock.restoreAll())
  const shown: string[] = []
  const output = Object.assign(new Writable(), { isTTY: true, write: (text: string) => shown.push(text) })
  const progress = new Progress(output as unknown as NodeJS.WriteStream, [100, 300])
  progress.read(100)
  progress.show(4)
  now += 250
  progress.show(5)
  progress.show(6)
  progress.end()
  t.same(shown, ['\r\u001b[K25 %  5 lines, 20 per second', '\r\u001b[K'])
})
