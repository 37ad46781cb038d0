/**
 * Renders the Helm chart: by `helm` where the machine has it, and else by main.go, with Go and sprig of the machine or of
 * Debian's packages (90 MB to fetch). What is built is kept, the packages are not.
 */

import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFileSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'
import { parse, parseAllDocuments, stringify } from 'yaml'
import { hasApt, unpacked } from '../../support/servers/apt.ts'
import { cacheFolder } from '../../support/servers/cache.ts'
import { serverFolder } from '../../support/servers/folder.ts'
import { chart, fileOf, withDefaults } from '../chart.ts'
import { missing } from '../programs.ts'

const PROGRAM = fileURLToPath(new URL('main.go', import.meta.url))
const SPRIG = 'usr/share/gocode/src/github.com/Masterminds/sprig'

export interface KubernetesObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> }
  readonly spec: Readonly<Record<string, unknown>>
  readonly data: Readonly<Record<string, string>>
}

export type Render = (values: object) => KubernetesObject[]

/** False, or why the chart can't be rendered here. */
export const cannotRender = missing('helm') !== false && !hasApt() ? 'neither helm nor apt is here' : false

/** @param release the name of the installation */
export async function renderer(t: Test, release: string): Promise<Render> {
  const folder = serverFolder(t, 'chart')
  if (missing('helm') === false) return (values) => byHelm(folder, release, values)
  const source = createHash('sha256').update(readFileSync(PROGRAM)).update(process.arch)
  const program = join(cacheFolder(), `render-chart-${source.digest('hex').slice(0, 16)}`)
  if (!existsSync(program)) await build(program, folder)
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

async function build(program: string, folder: string): Promise<void> {
  const libraries = existsSync(`/${SPRIG}`) ? '/' : await unpacked('golang-github-masterminds-sprig-dev')
  const go = missing('go') === false ? '/' : await unpacked('golang-go')
  const env = {
    ...process.env,
    GO111MODULE: 'off',
    GOPATH: join(libraries, 'usr/share/gocode'),
    GOCACHE: join(folder, 'cache'),
    ...(go === '/' ? {} : { GOROOT: join(go, 'usr/lib/go') }),
  }
  const made = join(folder, 'render')
  output(go === '/' ? 'go' : join(go, 'usr/lib/go/bin/go'), ['build', '-o', made, PROGRAM], { env })
  for (const packages of [libraries, go]) if (packages !== '/') rmSync(packages, { recursive: true })
  copyFileSync(made, `${program}.part`)
  renameSync(`${program}.part`, program)
}

function output(program: string, args: readonly string[], options: object = {}): string {
  return execFileSync(program, args, { stdio: 'pipe', ...options, encoding: 'utf8' })
}
