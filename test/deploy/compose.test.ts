/** The compose file: the Compose specification allows it, its parts fit together, and its configurations load. */

import { cpSync, existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import t from 'tap'
import { parse } from 'yaml'
import { loadWithTables } from '../../src/cli/load-tables.ts'
import { root } from '../docs/pages.ts'
import { deploy, missing, run } from './programs.ts'
import { serverFolder } from '../support/servers/folder.ts'

interface Service {
  readonly image?: string
  readonly build?: string
  readonly environment?: Readonly<Record<string, string>>
  readonly ports?: readonly string[]
  readonly volumes?: readonly string[]
  readonly networks?: readonly string[]
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>
  readonly healthcheck?: { readonly test: readonly string[] }
  readonly read_only?: boolean
  readonly cap_drop?: readonly string[]
  readonly security_opt?: readonly string[]
  readonly stop_grace_period?: string
}

interface Compose {
  readonly services: Readonly<Record<string, Service>>
  readonly volumes: Readonly<Record<string, unknown>>
  readonly networks: Readonly<Record<string, { readonly internal?: boolean }>>
}

const text = readFileSync(join(deploy, 'compose.yaml'), 'utf8')
const compose: Compose = parse(text, { merge: true })
const services = Object.entries(compose.services)
const gateway = compose.services['gateway'] ?? {}
const variables = { POSTGRES_PASSWORD: 'a1', VALKEY_PASSWORD: 'b2', ACME_TOKEN_SECRET: 'x'.repeat(32) }
const { config } = await loadWithTables(join(deploy, 'compose/gateway.config.yaml'), variables)

t.test('the schema of the Compose specification', async (t) => {
  const path = join(root, 'node_modules/dclint/schemas/compose.schema.json')
  const { $schema: draft, ...schema } = JSON.parse(readFileSync(path, 'utf8'))
  t.match(draft, 'draft-07')
  const validate = new Ajv({ allErrors: true, strict: false, validateFormats: false }).compile(schema)
  const faults = (file: unknown) =>
    validate(file) ? [] : validate.errors?.map((each) => `${each.instancePath} ${each.message}`)
  t.same(faults(compose), [])
  t.match(faults({ services: { gateway: { image: 'x', port: ['8080:8080'], ports: 8080 } } }), [
    '/services/gateway must NOT have additional properties',
    '/services/gateway/ports must be array',
  ])
})

t.test('all of the parts', async (t) => {
  const names = services.map(([name]) => name)
  t.same(names, ['gateway', 'sample', 'postgres', 'valkey', 'prometheus', 'grafana'])
  for (const [name, service] of services) {
    t.ok(service.image, `${name} has an image`)
    t.notMatch(service.image, /:latest$|^[^:]*$/, `${name}: of a version`)
    t.ok((service.healthcheck?.test.length ?? 0) > 1, `${name} is checked`)
    t.match(service.security_opt, ['no-new-privileges:true'], name)
    for (const [other, { condition }] of Object.entries(service.depends_on ?? {})) {
      t.ok(names.includes(other), `${name} depends on ${other}`)
      t.equal(condition, 'service_healthy')
    }
  }
})

t.test('files and volumes exist', async (t) => {
  for (const [name, { volumes = [], networks = [] }] of services) {
    for (const volume of volumes) {
      const [source = '', target, mode] = volume.split(':')
      if (!source.startsWith('.')) t.ok(source in compose.volumes, `${name}: ${source}`)
      else {
        t.ok(existsSync(join(deploy, source)), `${name}: ${source}`)
        t.equal(mode, 'ro', `${name}: ${target}`)
      }
    }
    for (const network of networks) t.ok(network === 'default' || network in compose.networks, network)
  }
})

t.test('a file that an editor replaces reaches the gateway', async (t) => {
  const sources = gateway.volumes?.map((each) => each.split(':')[0] ?? '') ?? []
  t.ok(sources.length > 0)
  for (const source of sources) t.ok(statSync(join(deploy, source)).isDirectory(), `${source} is a folder`)
})

t.test('no secret has a default', async (t) => {
  const used = [...text.matchAll(/\$\{([A-Z_]+)([^}]*)\}/g)]
  t.ok(used.length >= 8)
  for (const [whole, name = '', rest = ''] of used)
    t.match(rest, /PASSWORD|SECRET/.test(name) ? /^:\?./ : /^:-\d+$/, whole)
  for (const [name, { environment = {} }] of services)
    for (const [variable, value] of Object.entries(environment))
      if (/PASSWORD|SECRET|AUTH/.test(variable)) t.match(value, /^\$\{\w+:\?/, `${name}: ${variable}`)
})

t.test('the gateway', async (t) => {
  t.equal(gateway.read_only, true)
  t.same(gateway.cap_drop, ['ALL'])
  const grace = Number(/^(\d+)s$/.exec(gateway.stop_grace_period ?? '')?.[1]) * 1000
  t.ok(grace > config.drain + config.drainDelay)
  t.match(config.listen, [{ port: 8080 }])
  t.match(gateway.ports, [/:8080$/])
  t.same(Object.keys(variables).sort(), Object.keys(gateway.environment ?? {}).sort())
})

t.test('only the gateway is on the network of the databases', async (t) => {
  t.equal(compose.networks['data']?.internal, true)
  const onIt = services.filter(([, { networks = [] }]) => networks.includes('data')).map(([name]) => name)
  t.same(onIt, ['gateway', 'postgres', 'valkey'])
  for (const [name, { ports = [] }] of services)
    if (name !== 'gateway') for (const port of ports) t.match(port, /^127\.0\.0\.1:/, name)
})

t.test('names inside the network', async (t) => {
  t.match(config.store, { kind: 'postgres', url: /@postgres\/seatgate$/ })
  t.match(config.redis, { nodes: [{ host: 'valkey', port: 6379 }] })
  const prometheus = parse(readFileSync(join(deploy, 'compose/prometheus.yaml'), 'utf8'))
  const [{ job_name: job, static_configs: targets }] = prometheus.scrape_configs
  t.equal(job, 'seatgate')
  t.same(targets, [{ targets: [`${config.opsHosts[0]}:${config.ops.port}`] }])
  const { datasources } = parse(readFileSync(join(deploy, 'compose/grafana/datasources.yaml'), 'utf8'))
  t.match(datasources, [{ type: 'prometheus', url: 'http://prometheus:9090', isDefault: true }])
  const { providers } = parse(readFileSync(join(deploy, 'compose/grafana/dashboards.yaml'), 'utf8'))
  const mounted = compose.services['grafana']?.volumes?.find((each) => each.startsWith('./grafana.json'))
  t.ok(mounted?.includes(`:${providers[0].options.path}/`))
  const dashboard = JSON.parse(readFileSync(join(deploy, 'grafana.json'), 'utf8'))
  t.equal(dashboard.uid, 'seatgate')
})

t.test('promtool: the configuration of Prometheus', { skip: missing('promtool') }, async (t) => {
  const folder = serverFolder(t, 'prometheus')
  cpSync(join(deploy, 'alerts.yaml'), join(folder, 'alerts.yaml'))
  cpSync(join(deploy, 'compose/prometheus.yaml'), join(folder, 'prometheus.yaml'))
  const { code, output } = run('promtool', 'check', 'config', join(folder, 'prometheus.yaml'))
  t.equal(code, 0, output)
})
