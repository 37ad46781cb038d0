/** The steps that look at what a release says about itself. */

import assert from 'node:assert/strict'
import { run } from './command.ts'
import { ROOT } from './workshop.ts'

/** @param file at HEAD, whatever has changed since @throws if there is none */
function atHead(file: string): Promise<string> {
  return run(ROOT, ['git', 'show', `HEAD:${file}`])
}

/** The changes have a section of the version that has something in it. */
export async function changes(): Promise<string> {
  const { version }: { version: string } = JSON.parse(await atHead('package.json'))
  const [, ...sections] = (await atHead('CHANGELOG.md')).split(/^## /m)
  const section = sections.find((each) => each.split(/[\s\]]/, 1)[0]?.replace('[', '') === version)
  assert.ok(section !== undefined, `CHANGELOG.md has no section "## ${version}"`)
  const lines = section.split('\n').filter((line) => line.startsWith('- '))
  assert.ok(lines.length > 0, `the section ${version} of CHANGELOG.md names no change`)
  return `version ${version}, ${lines.length} lines`
}

/** The page with what a version promises is there, and each promise is. */
export async function promises(): Promise<string> {
  const page = await atHead('docs/versions.md')
  const subjects = ['/v1', 'configuration', 'table', 'command', 'exit code', 'log', 'metric', 'store']
  for (const subject of subjects)
    assert.ok(page.toLowerCase().includes(subject), `docs/versions.md says nothing about: ${subject}`)
  return `docs/versions.md: ${subjects.join(', ')}`
}

/** @returns what the sources at HEAD are called, and whether there are others beside */
export async function revision(): Promise<string> {
  const head = (await run(ROOT, ['git', 'rev-parse', 'HEAD'])).trim()
  const changed = (await run(ROOT, ['git', 'status', '--porcelain'])).trim()
  const note = changed === '' ? '' : `; ${changed.split('\n').length} uncommitted changes are NOT checked`
  return `HEAD ${head}${note}`
}
