/**
 * The structure of the source, read from the imports: which room and which part imports from which, and no
 * circles.
 */

import { globSync, readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join, normalize } from 'node:path'
import t from 'tap'

interface Room {
  /** The heading of its table: `Core`, `Decision questions` or `Tools`. */
  readonly part: string
  readonly imports: readonly string[]
}

/**
 * The rooms in the order of the tables in the manual, with the rooms that each may import from. `seats-admin`
 * imports nothing of `src`, as no row of it names one.
 */
const ROOMS: ReadonlyMap<string, Room> = new Map(
  readFileSync('docs/architecture.md', 'utf8')
    .split(/^### /m)
    .slice(1)
    .flatMap((section) => {
      const part = section.slice(0, section.indexOf('\n'))
      return [...section.matchAll(/^\| `((?:src|seats-admin)[^` ]*)` \|[^|]*\|([^|]*)\|$/gm)].map(
        ([, room = '', imports = '']): [string, Room] => [
          room,
          { part, imports: [...imports.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name) },
        ],
      )
    }),
)

/** Folders directly in src, and files. */
const MOST_FOLDERS = 16
const MOST_FILES = 3

const files = globSync('{src,seats-admin}/**/*.{ts,js}').sort()

function roomOf(file: string): string {
  const [top = '', second = '', third = ''] = file.split('/')
  if (file.split('/').length === 2) return top
  return second === 'http' ? `${top}/${second}/${third}` : `${top}/${second}`
}

/** Relative imports, static and dynamic, and worker files named by URL. */
function importsOf(file: string): string[] {
  const text = readFileSync(file, 'utf8')
  const found = text.matchAll(/(?:from|import|import\(|new URL\()\s*['"](\.[^'"]+)['"]/g)
  return [...found].map((each) => normalize(join(dirname(file), each[1] ?? '')))
}

t.test('the name of a file leads to one file', async (t) => {
  const places = Map.groupBy(files, (file) => basename(file))
  for (const [name, found] of places) t.equal(found.length, 1, `${name}: ${found.join(', ')}`)
})

t.test('every import is in the plan', async (t) => {
  t.ok(files.length > 30, 'found the sources')
  for (const file of files) {
    for (const target of importsOf(file)) {
      const [from, to] = [roomOf(file), roomOf(target)]
      if (from === to || target.endsWith('.json')) continue
      if (!ROOMS.get(from)?.imports.includes(to))
        t.fail(`${file} imports ${target}: ${from} may not import from ${to}`)
    }
  }
})

t.test('every import of the plan is used', async (t) => {
  const used = new Set(
    files.flatMap((file) => importsOf(file).map((target) => `${roomOf(file)} → ${roomOf(target)}`)),
  )
  for (const [from, { imports }] of ROOMS) {
    for (const to of imports) t.ok(used.has(`${from} → ${to}`), `${from} → ${to}`)
  }
})

t.test('no room imports from a room above it', async (t) => {
  const order = [...ROOMS.keys()]
  for (const [at, room] of order.entries())
    for (const to of ROOMS.get(room)?.imports ?? [])
      t.ok(order.indexOf(to) < at && order.includes(to), `${room} → ${to}`)
})

const PARTS: Readonly<Record<string, readonly string[]>> = {
  Core: ['Core'],
  'Decision questions': ['Core', 'Decision questions'],
  Tools: ['Core', 'Decision questions', 'Tools'],
}

t.test('the core imports only from itself, and no part from a later one', async (t) => {
  t.same([...new Set([...ROOMS.values()].map(({ part }) => part))], Object.keys(PARTS))
  for (const file of files) t.ok(ROOMS.has(roomOf(file)), `${file} is in a room of a part`)
  for (const [room, { part, imports }] of ROOMS)
    for (const to of imports) t.ok(PARTS[part]?.includes(ROOMS.get(to)?.part ?? ''), `${room} → ${to}`)
})

t.test('src has few folders and few files', async (t) => {
  const entries = readdirSync('src', { withFileTypes: true })
  t.ok(entries.filter((entry) => entry.isDirectory()).length <= MOST_FOLDERS)
  t.ok(entries.filter((entry) => entry.isFile()).length <= MOST_FILES)
})

t.test('no circle of files', async (t) => {
  const done = new Set<string>()
  const visit = (file: string, trail: readonly string[]) => {
    if (trail.includes(file)) t.fail(`circle: ${[...trail.slice(trail.indexOf(file)), file].join(' → ')}`)
    if (trail.includes(file) || done.has(file)) return
    for (const target of importsOf(file)) if (target.endsWith('.ts')) visit(target, [...trail, file])
    done.add(file)
  }
  const withBench = [...files, ...globSync('bench/**/*.ts', { exclude: ['bench/node_modules'] })]
  for (const file of withBench) visit(file, [])
  t.ok(done.size >= withBench.length)
})

t.test('a command that reads only files does not load the gateway', async (t) => {
  const loaded = new Set<string>()
  const load = (file: string) => {
    if (loaded.has(file) || !file.endsWith('.ts')) return
    loaded.add(file)
    for (const [, target = ''] of readFileSync(file, 'utf8').matchAll(
      /^(?:import|\}) (?!type ).*'(\.[^']+)'$/gm,
    ))
      load(normalize(join(dirname(file), target)))
  }
  load('src/cli/load-tables.ts')
  t.ok(loaded.has('src/composition.ts') && loaded.size > 100)
  t.notOk(loaded.has('src/runtime/start-gateway.ts'), 'it is half of all modules')
})

t.test('no source imports what costs each start more than it gives', async (t) => {
  // The module of node:http loads `fetch`, that of node:process opens the standard streams.
  for (const file of files.filter((each) => !each.startsWith('seats-admin/console/')))
    t.notMatch(readFileSync(file, 'utf8'), /^import (?!type ).* from 'node:(?:http|process)'$/m, file)
})

/** Packages that may be replaced, and the only file of each that imports it. */
const ONLY_IMPORTERS: Readonly<Record<string, string>> = {
  pino: 'src/telemetry/logger.ts',
  'pino-pretty': 'src/telemetry/logger.ts',
  'prom-client': 'src/telemetry/metric-registry.ts',
  '@opentelemetry/api': 'src/telemetry/tracing/server-span.ts',
  'http-proxy-3': 'src/proxy/websocket/websocket-proxy.ts',
  ioredis: 'src/redis/ioredis.ts',
}

t.test('one file imports each of these packages', async (t) => {
  const texts = files.map((file) => [file, readFileSync(file, 'utf8')] as const)
  for (const [name, importer] of Object.entries(ONLY_IMPORTERS)) {
    const imports = new RegExp(`(?:from|import|import\\() ?'${name}'`)
    t.same(
      texts.filter(([, text]) => imports.test(text)).map(([file]) => file),
      [importer],
      name,
    )
  }
})

t.test('seats-admin imports nothing of src', async (t) => {
  for (const file of files.filter((each) => each.startsWith('seats-admin/')))
    for (const target of importsOf(file)) t.notOk(target.startsWith('src/'), `${file} imports ${target}`)
})
