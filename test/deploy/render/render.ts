/**
 * Renders the Helm chart: by `helm` where the machine has it, and else by main.go, with Go and sprig of the machine or of
 * Debian's packages.
 */

import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'
import { parse, parseAllDocuments, stringify } from 'yaml'
import { serverFolder } from '../../support/servers/folder.ts'
import { builtByGo, cannotBuild } from '../../support/servers/go.ts'
import { chart, fileOf, withDefaults } from '../chart.ts'
import { missing } from '../programs.ts'

const PROGRAM = fileURLToPath(new URL('main.go', import.meta.url))
const SPRIG = {
  name: 'golang-github-masterminds-sprig-dev',
  folder: 'usr/share/gocode/src/github.com/Masterminds/sprig',
}

export interface KubernetesObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> }
  readonly spec: Readonly<Record<string, unknown>>
  readonly data: Readonly<Record<string, string>>
}

export type Render = (values: object) => KubernetesObject[]

/** False, or why the chart can't be rendered here. */
export const cannotRender = missing('helm') !== false && cannotBuild

/** @param release the name of the installation */
export async function renderer(t: Test, release: string): Promise<Render> {
  if (missing('helm') === false) {
    const folder = serverFolder(t, 'chart')
    return (values) => byHelm(folder, release, values)
  }
  const program = await builtByGo(t, PROGRAM, SPRIG)
  return (values) => byProgram(program, release, values)
}

function byHelm(folder: string, release: string, values: object): KubernetesObject[] {
  const file = join(folder, 'values.yaml')
  writeFileSync(file, stringify(values))
  return objectsIn(output('helm', ['template', release, chart, '--values', file]))
}

function byProgram(program: string, release: string, values: object): KubernetesObject[] {
  const { name, version, appVersion } = parse(fileOf('Chart.yaml'))
  const input = {
    Values: withDefaults(values),
    Chart: { Name: name, Version: version, AppVersion: appVersion },
    Release: { Name: release, Namespace: 'default', Service: 'Helm' },
  }
  const files: Record<string, string> = JSON.parse(output(program, [chart], { input: JSON.stringify(input) }))
  return Object.entries(files).flatMap(([file, text]) => (file === 'NOTES.txt' ? [] : objectsIn(text)))
}

function objectsIn(text: string): KubernetesObject[] {
  return parseAllDocuments(text).flatMap((document) => {
    if (document.errors.length > 0) throw new Error(`${document.errors.join('\n')}\n${text}`)
    const object: KubernetesObject | null = document.toJS()
    return object === null ? [] : [object]
  })
}

function output(program: string, args: readonly string[], options: object = {}): string {
  return execFileSync(program, args, { stdio: 'pipe', ...options, encoding: 'utf8' })
}
