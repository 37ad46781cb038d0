/** The queries of `deploy/`, and the names in them. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { deploy } from './programs.ts'

export interface Query {
  /** The panel or the alert. */
  readonly of: string
  readonly expression: string
}

interface Panel {
  readonly title: string
  readonly targets?: readonly { readonly expr: string }[]
}

export interface Dashboard {
  readonly uid: string
  readonly panels: readonly (Panel & { readonly id: number })[]
  readonly templating: { readonly list: readonly { readonly name: string; readonly definition?: string }[] }
}

export interface Rules {
  readonly groups: readonly { readonly rules: readonly { readonly alert: string; readonly expr: string }[] }[]
}

export const dashboard: Dashboard = JSON.parse(readFileSync(join(deploy, 'grafana.json'), 'utf8'))
export const rules: Rules = parse(readFileSync(join(deploy, 'alerts.yaml'), 'utf8'))

export const ofDashboard: readonly Query[] = dashboard.panels.flatMap(({ title, targets = [] }) =>
  targets.map(({ expr }) => ({ of: title, expression: withoutVariables(expr) })),
)
export const ofAlerts: readonly Query[] = rules.groups.flatMap((group) =>
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
const LABELS = /\{([^{}]*)\}|\b(?:by|without|on|ignoring|group_left|group_right)\s*\(([^()]*)\)/g
const WORDS = new Set(['by', 'without', 'on', 'ignoring', 'group_left', 'group_right', 'or', 'and', 'unless'])
const MORE_WORDS = new Set(['offset', 'bool', 'inf', 'nan'])

/** Metrics and labels: what is left of the expression besides functions, words, durations and texts. */
export function namesIn(expression: string): { metrics: string[]; labels: string[] } {
  const plain = expression.replaceAll(TEXTS, '')
  const labels = [...plain.matchAll(LABELS)].flatMap(([, matchers = '', grouping = '']) => [
    ...`${matchers} ${grouping}`.matchAll(/[A-Za-z_]\w*/g),
  ])
  const rest = plain.replaceAll(LABELS, ' ').replaceAll(/\[[^[\]]*\]|\b\d[\w.]*/g, ' ')
  const words = [...rest.matchAll(/[A-Za-z_:][\w:]*(?!\w*\s*\()/g)].map(([word]) => word)
  return {
    metrics: words.filter((word) => !WORDS.has(word) && !MORE_WORDS.has(word)),
    labels: labels.map(([label]) => label),
  }
}
