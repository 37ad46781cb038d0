/**
 * The rules of the house, read from the imports themselves: which room may enter which, and no circles. A stage knows
 * the nouns and its own room; results travel through the judge and the pipeline.
 */

import { globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import t from 'tap'

/** Every arrow between rooms. A room is a folder of src or seats-admin, or a file that stands alone in src. */
const ARROWS: Readonly<Record<string, readonly string[]>> = {
  'src/errors.ts': [],
  'src/json.ts': [],
  'src/heap-size.ts': [],
  'src/http1': ['src/heap-size.ts'],
  'src/exchange.ts': ['src/errors.ts', 'src/http1'],
  // Of the store, how its URL is read: `check` is to find what opening it would.
  'src/config': ['src/exchange.ts', 'seats-admin/model', 'seats-admin/store'],
  'src/router': ['src/exchange.ts', 'src/errors.ts', 'src/config'],
  'src/authn': [
    'src/exchange.ts',
    'src/errors.ts',
    'src/heap-size.ts',
    'src/http1',
    'src/json.ts',
    'src/config',
    'seats-admin/model',
  ],
  'src/seats': ['src/exchange.ts', 'src/heap-size.ts', 'seats-admin/model'],
  'src/redis': ['src/exchange.ts', 'src/config', 'src/coherence'],
  'src/workers': [],
  'src/oidc': [
    'src/exchange.ts',
    'src/errors.ts',
    'src/json.ts',
    'src/config',
    'seats-admin',
    'seats-admin/model',
  ],
  'src/authz': ['src/exchange.ts'],
  'src/coherence': [],
  'src/proxy': [
    'src/exchange.ts',
    'src/under-way.ts',
    'src/heap-size.ts',
    'src/http1',
    'src/errors.ts',
    'src/json.ts',
    'src/config',
  ],
  'src/telemetry': ['src/exchange.ts', 'src/errors.ts', 'src/http1'],
  'src/server': ['src/exchange.ts', 'src/http1', 'src/errors.ts', 'src/config'],
  'src/reevaluate': ['src/exchange.ts', 'src/errors.ts'],
  'src/outcomes.ts': ['src/exchange.ts', 'src/heap-size.ts', 'src/authz'],
  'src/judge.ts': [
    'src/exchange.ts',
    'src/errors.ts',
    'src/router',
    'src/authn',
    'src/seats',
    'src/authz',
    'src/outcomes.ts',
  ],
  'src/under-way.ts': [],
  'src/request-id.ts': [],
  'src/pipeline.ts': [
    'src/under-way.ts',
    'src/request-id.ts',
    'src/exchange.ts',
    'src/http1',
    'src/errors.ts',
    'src/judge.ts',
    'src/authn',
    'src/proxy',
    'src/server',
    'src/telemetry',
  ],
  'src/built-in.ts': ['src/exchange.ts', 'src/errors.ts', 'seats-admin', 'seats-admin/model'],
  'src/engine.ts': [
    'src/exchange.ts',
    'src/oidc',
    'src/sign-in.ts',
    'src/config',
    'src/judge.ts',
    'src/built-in.ts',
    'src/authn',
    'src/router',
    'src/seats',
    'src/coherence',
    'src/redis',
    'src/reevaluate',
    'seats-admin',
  ],
  'src/sign-in.ts': [
    'src/exchange.ts',
    'src/errors.ts',
    'src/config',
    'src/authn',
    'src/oidc',
    'src/pipeline.ts',
    'src/seats',
    'seats-admin',
  ],
  'src/door.ts': [
    'src/config',
    'src/engine.ts',
    'src/pipeline.ts',
    'src/proxy',
    'src/reevaluate',
    'src/server',
    'src/telemetry',
  ],
  'src/worker.js': ['src/worker.ts'],
  'src/worker.ts': [
    'src/startup.ts',
    'src/config',
    'src/oidc',
    'src/coherence',
    'src/door.ts',
    'src/engine.ts',
    'src/redis',
    'src/telemetry',
    'src/workers',
    'seats-admin',
  ],
  'src/store-health.ts': ['src/telemetry', 'seats-admin'],
  // The wait for a slow store is part of a process's start.
  'src/startup.ts': ['src/telemetry', 'seats-admin'],
  'src/membership.ts': [
    'src/startup.ts',
    'src/config',
    'src/coherence',
    'src/oidc',
    'src/redis',
    'src/store-health.ts',
    'src/telemetry',
    'seats-admin',
  ],
  'src/doors.ts': ['src/config', 'src/door.ts', 'src/engine.ts', 'src/membership.ts', 'src/telemetry'],
  'src/worker-doors.ts': [
    'src/config',
    'src/coherence',
    'src/doors.ts',
    'src/membership.ts',
    'src/oidc',
    'src/server',
    'src/telemetry',
    'src/worker.js',
    'src/workers',
    'seats-admin',
  ],
  'src/gateway.ts': [
    'src/startup.ts',
    'src/config',
    'src/doors.ts',
    'src/worker-doors.ts',
    'src/membership.ts',
    'src/server',
    'src/telemetry',
  ],
  // Explaining a request line, it reads it as the wire's readers do.
  'src/cli': [
    'src/exchange.ts',
    'src/errors.ts',
    'src/http1',
    'src/judge.ts',
    'src/server',
    'src/config',
    'src/built-in.ts',
    'src/engine.ts',
    'src/gateway.ts',
    'src/startup.ts',
    'src/router',
    'src/authn',
    'src/coherence',
    'src/oidc',
    'src/telemetry',
    'seats-admin',
    'seats-admin/model',
  ],
  'seats-admin/model': [],
  'seats-admin/store': ['seats-admin/model'],
  'seats-admin/api': ['seats-admin/model', 'seats-admin/store'],
  'seats-admin': ['seats-admin/model', 'seats-admin/store', 'seats-admin/api'],
}

const files = globSync('{src,seats-admin}/**/*.{ts,js}').sort()

function roomOf(file: string): string {
  const [top = '', second = ''] = file.split('/')
  if (top === 'seats-admin' && second === 'index.ts') return 'seats-admin'
  return `${top}/${second}`
}

/** Relative imports, static and dynamic, and worker files named by URL. */
function importsOf(file: string): string[] {
  const text = readFileSync(file, 'utf8')
  const found = text.matchAll(/(?:from|import|import\(|new URL\()\s*['"](\.[^'"]+)['"]/g)
  return [...found].map((each) => normalize(join(dirname(file), each[1] ?? '')))
}

t.test('every import is an arrow of the plan', async (t) => {
  t.ok(files.length > 30, 'found the sources')
  for (const file of files) {
    for (const target of importsOf(file)) {
      const [from, to] = [roomOf(file), roomOf(target)]
      if (from === to || target.endsWith('.json')) continue
      if (!ARROWS[from]?.includes(to)) t.fail(`${file} imports ${target}: ${from} may not enter ${to}`)
    }
  }
})

t.test('every arrow of the plan is used', async (t) => {
  const used = new Set(
    files.flatMap((file) => importsOf(file).map((target) => `${roomOf(file)} → ${roomOf(target)}`)),
  )
  for (const [from, targets] of Object.entries(ARROWS)) {
    for (const to of targets) t.ok(used.has(`${from} → ${to}`), `${from} → ${to}`)
  }
})

t.test('no circle of files', async (t) => {
  const done = new Set<string>()
  const visit = (file: string, trail: readonly string[]) => {
    if (trail.includes(file)) t.fail(`circle: ${[...trail.slice(trail.indexOf(file)), file].join(' → ')}`)
    if (trail.includes(file) || done.has(file)) return
    for (const target of importsOf(file)) if (target.endsWith('.ts')) visit(target, [...trail, file])
    done.add(file)
  }
  for (const file of files) visit(file, [])
  t.equal(done.size >= files.length, true)
})

t.test('seats-admin imports nothing of src', async (t) => {
  for (const file of files.filter((each) => each.startsWith('seats-admin/')))
    for (const target of importsOf(file)) t.notOk(target.startsWith('src/'), `${file} imports ${target}`)
})
