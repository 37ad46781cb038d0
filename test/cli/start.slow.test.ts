/** `seatgate start` as a process: its lines, its signals, its reloads. */

import { type ChildProcess, spawn } from 'node:child_process'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { startTrainingsService } from '../demo/trainings-service.ts'
import { CONFIG, folderWith, MAIN, ROUTES, SECRET, seatgate } from './command-line.ts'
import { fetchConforming } from '../support/openapi.ts'

interface Running {
  readonly child: ChildProcess
  readonly front: string
  readonly ops: string
  readonly cwd: string
  out(): string
  ended: Promise<{ code: number | null; signal: string | null }>
}

const files = { 'gateway.config.yaml': CONFIG, 'routes/trainings.yaml': ROUTES }

async function start(t: Test, cwd: string, url: string): Promise<Running> {
  const env = { ...process.env, ACME_SECRET: SECRET, TRAININGS_URL: url }
  const child = spawn(process.execPath, [MAIN, 'start'], { cwd, env, stdio: ['ignore', 'pipe', 'inherit'] })
  let out = ''
  child.stdout.on('data', (chunk) => {
    out += chunk
  })
  const ended = new Promise<{ code: number | null; signal: string | null }>((resolve) =>
    child.once('close', (code, signal) => resolve({ code, signal })),
  )
  t.teardown(() => child.kill('SIGKILL'))
  const listener = (name: string) =>
    new RegExp(`listening on (http://127\\.0\\.0\\.1:\\d+) \\(${name}`).exec(out)?.[1]
  await until(() => listener('front') !== undefined && listener('/livez') !== undefined)
  return { child, front: listener('front') ?? '', ops: listener('/livez') ?? '', cwd, out: () => out, ended }
}

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 600; tries++) {
    if (await condition()) return
    await sleep(25)
  }
  throw new Error('did not happen')
}

const status = async (url: string) => (await fetch(url)).status

/** Whether an entry of the table matches; the service behind it may not have the path. */
const routed = async (url: string) => !(await (await fetch(url)).text()).includes('route_not_found')

t.test('one line a listener, in JSON; SIGTERM ends it with 0', async (t) => {
  const service = await startTrainingsService()
  t.teardown(() => service.close())
  const running = await start(t, folderWith(t, files), service.url)
  t.equal(await status(`${running.front}/docs/a`), 200)
  t.equal(await status(`${running.front}/v1/trainings`), 401)
  t.equal(await status(`${running.ops}/readyz`), 200)
  running.child.kill('SIGTERM')
  t.same(await running.ended, { code: 0, signal: null })
  const lines = running
    .out()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  t.equal(lines.filter((line) => line.listener !== undefined).length, 2)
  t.equal(lines.filter((line) => line.msg === 'request').length, 2, 'the last lines are not lost')
  t.equal(lines.at(-1).msg, 'ended')
})

t.test('a changed file and SIGHUP reload; an invalid change is reported and has no effect', async (t) => {
  const service = await startTrainingsService()
  t.teardown(() => service.close())
  const running = await start(t, folderWith(t, files), service.url)
  const table = join(running.cwd, 'routes', 'trainings.yaml')

  writeFileSync(table, `${ROUTES}  GET /docs2/*: public\n`)
  await until(() => routed(`${running.front}/docs2/a`))
  await until(() => running.out().includes('"configuration reloaded"'))

  writeFileSync(table, `${ROUTES}  GET /docs/*: public\n`)
  await until(() => running.out().includes('reload refused'))
  t.match(running.out(), /routes\/trainings\.yaml:6:3: /)
  t.ok(await routed(`${running.front}/docs2/a`), 'the previous table stays active')

  rmSync(table)
  writeFileSync(
    join(running.cwd, 'routes', 'other.yaml'),
    'upstream: trainings\nroutes: { GET /docs3/*: public }\n',
  )
  running.child.kill('SIGHUP')
  await until(() => routed(`${running.front}/docs3/a`))
  t.notOk(await routed(`${running.front}/docs2/a`))
})

t.test('stopped as soon as it reports its listeners', async (t) => {
  const env = { ...process.env, ACME_SECRET: SECRET }
  for (let i = 0; i < 3; i++) {
    const child = spawn(process.execPath, [MAIN, 'start'], { cwd: folderWith(t, files), env })
    t.teardown(() => child.kill('SIGKILL'))
    let out = ''
    child.stdout.on('data', (chunk) => {
      if (!out.includes('listening') && String(chunk).includes('listening')) child.kill('SIGTERM')
      out += chunk
    })
    const ended = await new Promise((resolve) =>
      child.once('close', (code, signal) => resolve({ code, signal })),
    )
    t.same(ended, { code: 0, signal: null })
    t.match(out, /"msg":"ended"/)
  }
})

t.test('a repeated signal counts once; a second one later ends it at once', async (t) => {
  const waiting = createServer(() => {})
  await new Promise<void>((resolve) => waiting.listen(0, '127.0.0.1', resolve))
  t.teardown(() => waiting.close())
  const { port } = waiting.address() as { port: number }
  const running = await start(t, folderWith(t, files), `http://127.0.0.1:${port}`)
  const answer = fetch(`${running.front}/docs/a`).catch(() => 'cut')
  const connected = new Promise((resolve) => waiting.once('connection', resolve))
  await connected
  for (let i = 0; i < 3; i++) running.child.kill('SIGINT')
  await until(() => running.out().includes('draining'))
  await sleep(1500)
  t.equal(running.child.exitCode, null, 'the gateway waits for the request in flight')
  running.child.kill('SIGINT')
  t.same(await running.ended, { code: 1, signal: null })
  t.equal(await answer, 'cut')
})

t.test('stopped while it waits for its store', async (t) => {
  let contacted = false
  const silent = createServer(() => {
    contacted = true
  })
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  t.teardown(() => silent.close())
  const { port } = silent.address() as { port: number }
  const store = `store: postgres://gate:hush@127.0.0.1:${port}/seatgate`
  const cwd = folderWith(t, {
    ...files,
    'gateway.config.yaml': CONFIG.replace('store: sqlite:./seatgate.db', store),
  })
  const env = { ...process.env, ACME_SECRET: SECRET }
  const child = spawn(process.execPath, [MAIN, 'start'], { cwd, env, stdio: ['ignore', 'pipe', 'inherit'] })
  t.teardown(() => child.kill('SIGKILL'))
  let out = ''
  child.stdout.on('data', (chunk) => {
    out += chunk
  })
  const ended = new Promise((resolve) => child.once('close', (code, signal) => resolve({ code, signal })))
  await until(() => contacted)
  child.kill('SIGTERM')
  t.same(await ended, { code: 0, signal: null })
  t.match(out, /ended before listening/)
})

t.test('npm start passes the signal on', async (t) => {
  const { scripts } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  const folder = folderWith(t, {
    ...files,
    'package.json': JSON.stringify({
      scripts: { start: scripts.start.replace('src/cli/seatgate.js', MAIN) },
    }),
  })
  const env = { ...process.env, ACME_SECRET: SECRET }
  const stdio = ['ignore', 'pipe', 'ignore'] as const
  const child = spawn('npm', ['start'], { cwd: folder, env, stdio: [...stdio], detached: true })
  t.teardown(() => {
    try {
      process.kill(-(child.pid ?? NaN), 'SIGKILL')
    } catch {
      // All of them have ended.
    }
  })
  let out = ''
  child.stdout.on('data', (chunk) => {
    out += chunk
  })
  await until(() => out.includes('/livez'))
  const ops = /listening on (http:\S+) \(\/livez/.exec(out)?.[1] ?? ''
  child.kill('SIGTERM')
  await until(() => out.includes('"msg":"ended"'))
  await t.rejects(fetch(`${ops}/livez`), 'no process is left')
})

t.test(
  'a conflict of two tables is resolved in the one that only the invalid configuration names',
  async (t) => {
    const cwd = folderWith(t, files)
    const running = await start(t, cwd, 'http://127.0.0.1:1')
    const more = join(cwd, 'more.yaml')
    writeFileSync(more, 'upstream: trainings\nroutes: { GET /docs/*: public }\n')
    writeFileSync(
      join(cwd, 'gateway.config.yaml'),
      `${CONFIG.replace('[routes/*.yaml]', '[routes/*.yaml, more.yaml]')}`,
    )
    await until(() => running.out().includes('reload refused'))
    writeFileSync(more, 'upstream: trainings\nroutes: { GET /more/*: public }\n')
    await until(() => routed(`${running.front}/more/a`))
    t.pass('noticed')
  },
)

t.test('a start and a reload warn of memory settings that the heap cannot hold', async (t) => {
  const warnings = (out: string) => out.match(/memory may take \d+ MiB of a process[^"]*/g) ?? []
  const cwd = folderWith(t, files)
  const running = await start(t, cwd, 'http://127.0.0.1:1')
  t.same(warnings(running.out()), [], 'not by default')
  writeFileSync(join(cwd, 'gateway.config.yaml'), `${CONFIG}memory: { seats: 4GiB, tokens: 4GiB }\n`)
  await until(() => warnings(running.out()).length > 0)
  t.match(
    warnings(running.out())[0],
    /^memory may take 8200 MiB of a process, more than half of its heap limit of \d+ MiB/,
  )
  running.child.kill('SIGKILL')
  const again = await start(t, cwd, 'http://127.0.0.1:1')
  await until(() => warnings(again.out()).length > 0)
  t.pass('at the start')
})

t.test('a failed start prints one line and exits with 1', async (t) => {
  const taken = createServer()
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
  t.teardown(() => taken.close())
  const { port } = taken.address() as { port: number }
  const cases: Record<string, [Record<string, string>, RegExp]> = {
    'a port that is taken': [
      { ...files, 'gateway.config.yaml': CONFIG.replace('listen: 127.0.0.1:0', `listen: 127.0.0.1:${port}`) },
      /EADDRINUSE/,
    ],
    'a store that is none': [
      { ...files, 'seatgate.db': 'this is no database, but it is long enough to be read'.repeat(50) },
      /seatgate\.db/,
    ],
    'a fault of a table': [
      { ...files, 'routes/trainings.yaml': `${ROUTES}  GET /docs/*: public\n` },
      /^routes\/trainings\.yaml:6:3: /,
    ],
  }
  for (const [name, [given, expected]] of Object.entries(cases)) {
    const { code, out, err } = await seatgate(folderWith(t, given), ['start'])
    t.equal(code, 1, name)
    t.match(err, expected, name)
    t.notMatch(err + out, /\n +at /, `${name}: no stack`)
  }
})

t.test(
  'one gateway for a store: a second one is refused, until the first has ended in any way',
  async (t) => {
    const service = await startTrainingsService()
    t.teardown(() => service.close())
    const cwd = folderWith(t, files)
    const first = await start(t, cwd, service.url)
    t.match(await seatgate(cwd, ['start']), {
      code: 1,
      err: /another gateway runs on the store .*seatgate\.db/,
    })
    t.equal(await status(`${first.ops}/readyz`), 200)
    first.child.kill('SIGKILL')
    await first.ended
    const second = await start(t, cwd, service.url)
    t.equal(await status(`${second.ops}/readyz`), 200)
  },
)

t.test('a write answered 200 survives kill -9', async (t) => {
  const service = await startTrainingsService()
  t.teardown(() => service.close())
  const cwd = folderWith(t, files)
  const made = await seatgate(cwd, ['bootstrap', '--tenant', 'acme', '--json'])
  const headers = {
    'x-api-key': JSON.parse(made.out).key,
    space: 'admin',
    'content-type': 'application/json',
  }
  const answered: string[] = []
  for (let round = 0; round < 5; round++) {
    const running = await start(t, cwd, service.url)
    let dead = false
    const load = Array.from({ length: 4 }, async (_, worker) => {
      for (let i = 0; !dead; i++) {
        const name = `Seat ${round} ${worker} ${i}`
        const body = JSON.stringify({ name, spaces: ['s1'], permissions: ['a:b'] })
        const answer = await fetch(`${running.front}/v1/seats`, { method: 'POST', headers, body }).catch(
          () => null,
        )
        if (answer?.status === 200) answered.push(name)
      }
    })
    const before = answered.length
    await until(() => answered.length > before + 20)
    running.child.kill('SIGKILL')
    await running.ended
    dead = true
    await Promise.all(load)
  }
  const running = await start(t, cwd, service.url)
  const found = new Set<string>()
  for (let after = ''; ;) {
    const page = await fetchConforming(`${running.front}/v1/seats?limit=100${after}`, { headers })
    if (page.status !== 200) throw new Error(`${page.status} ${await page.text()}`)
    const { data, has_more } = (await page.json()) as {
      data: { id: string; name: string }[]
      has_more: boolean
    }
    for (const { name } of data) found.add(name)
    if (!has_more) break
    after = `&after=${data.at(-1)?.id}`
  }
  t.ok(answered.length >= 100)
  t.same(
    answered.filter((name) => !found.has(name)),
    [],
    'every acknowledged Seat is there',
  )
  t.ok(readdirSync(cwd).includes('seatgate.db'))
})
