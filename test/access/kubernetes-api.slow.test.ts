/** Kubernetes' own description, Swagger 2 of 1,000 operations: imported, checked, compared and kept up to date. */

import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { CONFIG, folderWith } from '../cli/command-line.ts'
import { seatgateHere } from '../cli/in-process.ts'
import { isOneScreen, KUBERNETES, pathOf } from './descriptions.ts'

const found = pathOf(KUBERNETES)
const METHODS = ['get', 'put', 'post', 'patch', 'delete', 'options', 'head']

/** METHOD and path of each operation, by themselves. HEAD is served by GET's entry where there is one. */
function operationsIn(file: string): string[] {
  const { paths } = JSON.parse(readFileSync(file, 'utf8')) as { paths: Record<string, object> }
  return Object.entries(paths).flatMap(([path, item]) =>
    METHODS.filter((method) => method in item && !(method === 'head' && 'get' in item)).map(
      (method) => `${method.toUpperCase()} ${path}`,
    ),
  )
}

t.test(
  'Kubernetes',
  { skip: found === null ? `${KUBERNETES.package} can't be fetched` : false },
  async (t) => {
    const source = found ?? ''
    const config = CONFIG.replaceAll('trainings', 'kubernetes')
    const cwd = folderWith(t, { 'gateway.config.yaml': config, 'routes/x.txt': '' })
    const run = (...args: string[]) => seatgateHere(cwd, args, { ACME_SECRET: '' })
    const table = join(cwd, 'routes/kubernetes.yaml')
    const imported = (...args: string[]) =>
      run('import', 'openapi', source, '--upstream', 'kubernetes', '--out', table, ...args)
    const operations = operationsIn(source)

    const first = await imported()
    t.match(first, { code: 0, err: '', out: `${table}: ${operations.length} entries` })
    const written = readFileSync(table, 'utf8')
    const entries = [...written.matchAll(/^ {2}([A-Z]+ \/\S*): \S+/gm)].map(([, key]) => key)
    t.same(entries.toSorted(), operations.toSorted(), 'each operation, and nothing else')
    t.match(written, '  GET /api/v1/pods: pods:list # list or watch objects of kind Pod\n')
    t.match(await run('check', '--no-env', '--strict'), {
      code: 0,
      err: '',
      out: `gateway.config.yaml: no faults (${operations.length} routes, 1 upstream)\n`,
    })
    t.match(await imported('--check'), {
      code: 0,
      out: `each of ${operations.length} operations has its entry`,
    })
    t.equal((await imported('--update')).code, 0)
    t.equal(readFileSync(table, 'utf8'), written, 'an update without drift writes the same bytes')

    mkdirSync(join(cwd, 'old/routes'), { recursive: true })
    writeFileSync(join(cwd, 'old/gateway.config.yaml'), config)
    copyFileSync(table, join(cwd, 'old/routes/kubernetes.yaml'))
    t.match(await run('diff', 'old', '.'), { code: 0, out: 'No request is answered differently' })

    const byHand = written
      .replace('GET /api/v1/pods: pods:list', '# ours\n  GET /api/v1/pods:   fleet:browse')
      .replace(/\n {2}GET \/apis\/batch\/v1\/jobs: .*/, '')
      .replace('routes:\n', 'routes:\n  GET /own: own:read\n')
    writeFileSync(table, byHand)
    t.match(await imported('--check'), {
      code: 3,
      out: `${table}: no entry for GET /apis/batch/v1/jobs (jobs:list)\n${table}: the description has no GET /own\n`,
    })
    t.equal((await imported('--update')).code, 0)
    t.equal(
      readFileSync(table, 'utf8'),
      `${byHand}  GET /apis/batch/v1/jobs: jobs:list # list or watch objects of kind Job\n`,
      'what is written by hand stays as it is',
    )
    const { changes } = JSON.parse((await run('diff', 'old', '.', '--json')).out)
    t.same(
      changes.map(({ kind, pattern }: { kind: string; pattern: string }) => `${kind} ${pattern}`),
      ['added /own', 'changed /api/v1/pods'],
    )

    const seats = { A: { spaces: ['main'], permissions: ['pods:raed', 'pods:list'] } }
    writeFileSync(join(cwd, 'seats.yaml'), JSON.stringify({ tenant: 'acme', seats }))
    const lint = await run('lint', '--seats', 'seats.yaml')
    t.ok(isOneScreen(lint.out), lint.out)
    t.match(
      lint.out,
      /^warning route_ungranted \(1\d{3}\)\n {2}acme: PUT \S+\n {4}\(\S+\) requires status:update, /m,
    )
    t.match(lint.out, /^ {4}.*; 67 more routes require it$/m)

    writeFileSync(
      table,
      written
        .replaceAll(': secrets:list', ': public')
        .replaceAll(': pods:read', ': authenticated')
        .replaceAll(/: (\w+):update/g, ': $1:write')
        .replaceAll(/\n {2}\w+ \/apis\/apps\/.*/g, ''),
    )
    const diff = await run('diff', 'old', '.')
    t.equal(diff.code, 3)
    t.ok(isOneScreen(diff.out), diff.out)
    for (const line of [
      /^became_public \(4\)\n {2}secrets:list → public \(4\)\n {4}GET \/api\/v1\/namespaces\/\{namespace\}\/secrets/m,
      /^loosened \(2\)\n {2}pods:read → authenticated \(2\)\n/m,
      /^changed \(\d+\)\n {2}status:update → status:write \(\d+\)\n/m,
      /^removed \(\d+\)\n {2}\w+:\w+ → no entry \(404\) \(\d+\)\n/m,
      /\n--json has all of them, .*\n\d+ differences: 4 became_public, 2 loosened, \d+ changed, \d+ removed\n$/,
    ])
      t.match(diff.out, line)
  },
)
