/** `seatgate start` as a process: its lines, its signals, its reloads. */

import { spawn } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { GatewayProcess, startGatewayProcess } from '../support/gateway-process.ts'
import { fetchConforming } from '../support/openapi.ts'
import { served } from '../support/served.ts'
import { until } from '../support/until.ts'
import { startUpstream } from '../support/world.ts'
import { CONFIG, folderWith, MAIN, ROUTES, SECRET, seatgate } from './command-line.ts'
import { seatgateHere } from './in-process.ts'

const files = { 'gateway.config.yaml': CONFIG, 'routes/trainings.yaml': ROUTES }
const BEYOND_THE_HEAP = 'memory: { seats: 4GiB, tokens: 4GiB }\n'

const { url: service } = await startUpstream(t)
t.jobs = 2

const start = (t: Test, folder: string, url = service) =>
  startGatewayProcess(t, { folder, env: { TRAININGS_URL: url } })

const says = (gateway: GatewayProcess, text: string) =>
  until(
    () => gateway.log.includes(text),
    () => `${text} is not in ${gateway.log}`,
  )

async function listening(t: Test, server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  return (server.address() as { port: number }).port
}

const status = async (url: string) => (await fetch(url)).status

/** A gateway that stood still is not ready until it has read its store again. */
const ready = (gateway: GatewayProcess) =>
  until(async () => (await gateway.ready()).status === 200, '200 of /readyz')

/** Whether an entry of the table matches. */
const routed = async (gateway: GatewayProcess, path: string) => (await status(gateway.origin + path)) !== 404

t.test('one line a listener, in JSON; SIGTERM ends it with 0', async (t) => {
  const folder = folderWith(t, { ...files, 'gateway.config.yaml': CONFIG + BEYOND_THE_HEAP })
  const gateway = await start(t, folder)
  t.equal(await status(`${gateway.origin}/docs/a`), 200)
  t.equal(await status(`${gateway.origin}/v1/trainings`), 401)
  await ready(gateway)
  gateway.signal('SIGTERM')
  t.equal(await gateway.ended, 0)
  const lines = gateway.log
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  t.equal(lines.filter((line) => line.listener !== undefined).length, 2)
  t.equal(lines.filter((line) => line.msg === 'request').length, 2, 'the last lines are not lost')
  t.equal(lines.at(-1).msg, 'ended')
  t.ok(
    lines.some(({ msg }) =>
      /^memory may take 8200 MiB .*, more than half of its heap limit of \d+ MiB/.test(msg),
    ),
    'settings that the heap cannot hold',
  )
})

t.test('a changed file and SIGHUP reload; an invalid change is reported and has no effect', async (t) => {
  const folder = folderWith(t, files)
  const gateway = await start(t, folder)
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text)
  const comes = (path: string) => until(() => routed(gateway, path), path)
  const table = 'routes/trainings.yaml'

  await t.test('a table', async (t) => {
    write(table, `${ROUTES}  GET /docs2/*: public\n`)
    await comes('/docs2/a')
    await says(gateway, '"configuration reloaded"')

    write(table, `${ROUTES}  GET /docs/*: public\n`)
    await says(gateway, 'reload refused')
    t.match(gateway.log, /routes\/trainings\.yaml:6:3: /)
    t.ok(await routed(gateway, '/docs2/a'), 'the previous table stays active')

    rmSync(join(folder, table))
    write('routes/other.yaml', 'upstream: trainings\nroutes: { GET /docs3/*: public }\n')
    gateway.signal('SIGHUP')
    await comes('/docs3/a')
    t.notOk(await routed(gateway, '/docs2/a'))
  })

  await t.test('a conflict is resolved in the table that only the invalid configuration names', async () => {
    write('more.yaml', 'upstream: trainings\nroutes: { GET /docs3/*: public }\n')
    write('gateway.config.yaml', CONFIG.replace('[routes/*.yaml]', '[routes/*.yaml, more.yaml]'))
    await says(gateway, 'more.yaml:2:')
    write('more.yaml', 'upstream: trainings\nroutes: { GET /more/*: public }\n')
    await comes('/more/a')
  })

  await t.test('memory settings that the heap cannot hold', async (t) => {
    t.notMatch(gateway.log, 'memory may take', 'not by default')
    write('gateway.config.yaml', CONFIG + BEYOND_THE_HEAP)
    await says(gateway, 'memory may take 8200 MiB of a process')
  })
})

t.test('stopped as soon as it reports its listeners', async (t) => {
  const env = { ...process.env, ACME_SECRET: SECRET }
  const stopped = async () => {
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
  await Promise.all([stopped(), stopped()])
})

t.test('a repeated signal counts once; a second one later ends it at once', async (t) => {
  const waiting = createServer(() => {})
  const port = await listening(t, waiting)
  const folder = folderWith(t, { ...files, 'gateway.config.yaml': `${CONFIG}drain: 10m\n` })
  const gateway = await start(t, folder, `http://127.0.0.1:${port}`)
  const connected = new Promise((resolve) => waiting.once('connection', resolve))
  const answer = fetch(`${gateway.origin}/docs/a`).catch(() => 'cut')
  await connected
  for (let turn = 0; turn < 3; turn++) gateway.signal('SIGINT')
  await says(gateway, 'draining')
  // Longer than the time in which a signal is the same one.
  await sleep(1500)
  t.ok(gateway.running, 'the gateway waits for the request in flight')
  gateway.signal('SIGINT')
  t.equal(await gateway.ended, 1)
  t.equal(await answer, 'cut')
})

t.test('stopped while it waits for its store', async (t) => {
  const silent = createServer(() => {})
  const contacted = new Promise((resolve) => silent.once('connection', resolve))
  const store = `store: postgres://gate:hush@127.0.0.1:${await listening(t, silent)}/seatgate`
  const config = CONFIG.replace('store: sqlite:./seatgate.db', store)
  const gateway = await GatewayProcess.launch(t, { files: { ...files, 'gateway.config.yaml': config } })
  await contacted
  t.equal(await gateway.end(), 0)
  t.match(gateway.log, /ended before listening/)
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
  await until(
    () => out.includes('/livez'),
    () => `it does not listen: ${out}`,
  )
  const ops = /listening on (http:\S+) \(\/livez/.exec(out)?.[1] ?? ''
  child.kill('SIGTERM')
  await until(
    () => out.includes('"msg":"ended"'),
    () => `it does not end: ${out}`,
  )
  await t.rejects(fetch(`${ops}/livez`), 'no process is left')
})

t.test('a failed start prints one line and exits with 1', async (t) => {
  const port = await listening(t, createServer())
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
  const fails = async ([name, [given, expected]]: [string, [Record<string, string>, RegExp]]) => {
    const { code, out, err } = await seatgate(folderWith(t, given), ['start'])
    t.equal(code, 1, name)
    t.match(err, expected, name)
    t.notMatch(err + out, /\n +at /, `${name}: no stack`)
  }
  await Promise.all(Object.entries(cases).map(fails))
})

t.test(
  'one gateway for a store, until it ends in any way; a write answered 200 survives kill -9',
  async (t) => {
    const folder = folderWith(t, files)
    const made = await seatgateHere(folder, ['bootstrap', '--tenant', 'acme', '--json'])
    const headers = {
      'x-api-key': JSON.parse(made.out).key,
      space: 'admin',
      'content-type': 'application/json',
    }
    const answered: string[] = []
    for (let round = 0; round < 2; round++) {
      const gateway = await start(t, folder)
      let dead = false
      const load = Array.from({ length: 4 }, async (_, worker) => {
        for (let at = 0; !dead; at++) {
          const name = `Seat ${round} ${worker} ${at}`
          const body = JSON.stringify({ name, spaces: ['s1'], permissions: ['a:b'] })
          const answer = await fetch(`${gateway.origin}/v1/seats`, { method: 'POST', headers, body }).catch(
            () => null,
          )
          if (answer?.status === 200) answered.push(name)
        }
      })
      const before = answered.length
      await until(() => answered.length > before + 20, 'twenty Seats')
      if (round === 0) await refusesAnother(t, gateway)
      await gateway.kill()
      dead = true
      await Promise.all(load)
    }
    const gateway = await start(t, folder)
    await ready(gateway)
    const found = new Set<string>()
    for (let after = ''; ;) {
      const read = () => fetchConforming(`${gateway.origin}/v1/seats?limit=100${after}`, { headers })
      // The store of a gateway that has just started may be too slow for an answer on a busy machine.
      const page = await served(read)
      if (page.status !== 200) throw new Error(`${page.status} ${await page.text()}`)
      const { data, has_more } = (await page.json()) as {
        data: { id: string; name: string }[]
        has_more: boolean
      }
      for (const { name } of data) found.add(name)
      if (!has_more) break
      after = `&after=${data.at(-1)?.id}`
    }
    t.same(
      answered.filter((name) => !found.has(name)),
      [],
      'every acknowledged Seat is there',
    )
  },
)

async function refusesAnother(t: Test, gateway: GatewayProcess): Promise<void> {
  t.match(await seatgate(gateway.folder, ['start']), {
    code: 1,
    err: /another gateway runs on the store .*seatgate\.db/,
  })
  await ready(gateway)
}
