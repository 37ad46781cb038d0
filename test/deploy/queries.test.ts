/** The dashboard and the alerts ask for metrics and labels that a running gateway has. */

import { writeFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { stringify, parse } from 'yaml'
import { LABELS, metricsOf } from '../../docs/generate/metrics.ts'
import { scrapeNewGateway } from '../../docs/generate/running.ts'
import { deploy, missing, run } from './programs.ts'
import { serverFolder } from '../support/servers/folder.ts'

interface Query {
  /** The panel or the alert. */
  readonly of: string
  readonly expression: string
}

interface Panel {
  readonly title: string
  readonly targets?: readonly { readonly expr: string }[]
}

interface Dashboard {
  readonly uid: string
  readonly panels: readonly (Panel & { readonly id: number })[]
  readonly templating: { readonly list: readonly { readonly name: string; readonly definition?: string }[] }
}

interface Rules {
  readonly groups: readonly { readonly rules: readonly { readonly alert: string; readonly expr: string }[] }[]
}

const dashboard: Dashboard = JSON.parse(readFileSync(join(deploy, 'grafana.json'), 'utf8'))
const rules: Rules = parse(readFileSync(join(deploy, 'alerts.yaml'), 'utf8'))

const ofDashboard: readonly Query[] = dashboard.panels.flatMap(({ title, targets = [] }) =>
  targets.map(({ expr }) => ({ of: title, expression: withoutVariables(expr) })),
)
const ofAlerts: readonly Query[] = rules.groups.flatMap((group) =>
  group.rules.map(({ alert, expr }) => ({ of: alert, expression: expr })),
)

/** As Grafana replaces them before it asks Prometheus. */
function withoutVariables(expression: string): string {
  return expression
    .replaceAll('$__rate_interval', '1m')
    .replaceAll('$job', '.*')
    .replaceAll('$instance', '.*')
}

const TEXTS = /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'/g
const GROUPS_AND_MATCHERS = /\{([^{}]*)\}|\b(?:by|without|on|ignoring|group_left|group_right)\s*\(([^()]*)\)/g
const WORDS = new Set(['by', 'without', 'on', 'ignoring', 'group_left', 'group_right', 'or', 'and', 'unless'])
const MORE_WORDS = new Set(['offset', 'bool', 'inf', 'nan'])

/** Metrics and labels: what is left of the expression besides functions, words, durations and texts. */
function namesIn(expression: string): { metrics: string[]; labels: string[] } {
  const plain = expression.replaceAll(TEXTS, '')
  const labels = [...plain.matchAll(GROUPS_AND_MATCHERS)].flatMap(([, matchers = '', grouping = '']) => [
    ...`${matchers} ${grouping}`.matchAll(/[A-Za-z_]\w*/g),
  ])
  const rest = plain.replaceAll(GROUPS_AND_MATCHERS, ' ').replaceAll(/\[[^[\]]*\]|\b\d[\w.]*/g, ' ')
  const words = [...rest.matchAll(/[A-Za-z_:][\w:]*(?!\w*\s*\()/g)].map(([word]) => word)
  return {
    metrics: words.filter((word) => !WORDS.has(word) && !MORE_WORDS.has(word)),
    labels: labels.map(([label]) => label),
  }
}

const skip = missing('promtool')
/** Prometheus has it for each target. */
const OF_PROMETHEUS = 'up'
const OF_EVERY_TARGET = ['job', 'instance']

const types = new Map(metricsOf(await scrapeNewGateway()).map(({ name, type }) => [name, type] as const))

/** The metric that has the series; undefined: there is none. */
function metricOf(series: string): string | undefined {
  if (types.has(series)) return types.get(series) === 'histogram' ? undefined : series
  const histogram = series.replace(/_(?:bucket|sum|count)$/, '')
  return types.get(histogram) === 'histogram' ? histogram : undefined
}

function check(t: Pick<typeof import('tap').t, 'ok'>, { of, expression }: Query): void {
  const { metrics, labels } = namesIn(expression)
  t.ok(metrics.length > 0, `${of} asks for a metric`)
  const known = new Set(OF_EVERY_TARGET)
  for (const series of metrics) {
    const metric = metricOf(series)
    t.ok(metric !== undefined || series === OF_PROMETHEUS, `${of}: ${series}`)
    for (const label of LABELS[metric ?? ''] ?? []) known.add(label)
    if (series.endsWith('_bucket')) known.add('le')
  }
  for (const label of labels) t.ok(known.has(label), `${of}: label ${label}`)
}

t.test('names are found in expressions', async (t) => {
  const found = namesIn(
    'sum by (le, a) (rate(x_bucket{b=~"c|{d}",e!="f"}[5m])) / on (g) y:z offset 1h > 0.5e3',
  )
  t.same(found, { metrics: ['x_bucket', 'y:z'], labels: ['le', 'a', 'b', 'e', 'g'] })
})

t.test('alerts', async (t) => {
  t.ok(ofAlerts.length >= 10)
  for (const query of ofAlerts) check(t, query)
})

t.test('dashboard', async (t) => {
  t.ok(ofDashboard.length >= 30)
  for (const query of ofDashboard) check(t, query)
  const ids = dashboard.panels.map(({ id }) => id)
  t.equal(new Set(ids).size, ids.length, 'each panel has an id of its own')
  for (const { name, definition } of dashboard.templating.list)
    if (definition !== undefined)
      t.ok(metricOf(/label_values\((\w+)/.exec(definition)?.[1] ?? '') !== undefined, name)
})

t.test('every metric of the gateway that is worth an alert has one', async (t) => {
  const alerted = new Set(ofAlerts.flatMap(({ expression }) => namesIn(expression).metrics.map(metricOf)))
  for (const name of [
    'seatgate_lease_live',
    'seatgate_feed_age_seconds',
    'seatgate_decisions_by_source_total',
  ])
    t.ok(alerted.has(name), name)
  for (const name of ['seatgate_write_answered_seconds', 'seatgate_upstream_target_up'])
    t.ok(alerted.has(name), name)
  for (const name of ['renewal', 'expiration'])
    t.ok(alerted.has(`seatgate_certificate_${name}_timestamp_seconds`), name)
  t.ok(alerted.has('seatgate_config_files_ok'))
})

t.test('promtool: the rules', { skip }, async (t) => {
  const { code, output } = run('promtool', 'check', 'rules', '--lint-fatal', join(deploy, 'alerts.yaml'))
  t.equal(code, 0, output)
})

t.test('promtool: the queries of the dashboard', { skip }, async (t) => {
  const folder = serverFolder(t, 'queries')
  const file = join(folder, 'queries.yaml')
  const recorded = ofDashboard.map(({ expression }, at) => ({ record: `panel_${at}`, expr: expression }))
  writeFileSync(file, stringify({ groups: [{ name: 'dashboard', rules: recorded }] }))
  const { code, output } = run('promtool', 'check', 'rules', file)
  t.equal(code, 0, output)
})

t.test('promtool: when alerts fire', { skip }, async (t) => {
  const { code, output } = run('promtool', 'test', 'rules', 'test/deploy/alerts.promtool.yaml')
  t.equal(code, 0, output)
})
