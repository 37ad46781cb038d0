/** The contracts of releases, as data in folders named by their versions. */

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Contract } from './contract.ts'

const folder = fileURLToPath(new URL('.', import.meta.url))
const VERSION = /^\d+\.\d+\.\d+$/

/** The versions with data, the oldest first. */
export function releases(): string[] {
  return readdirSync(folder)
    .filter((name) => VERSION.test(name))
    .sort((one, other) => one.localeCompare(other, 'en', { numeric: true }))
}

export function contractOf(version: string): Contract {
  const read = (part: string): unknown => JSON.parse(readFileSync(`${folder}${version}/${part}.json`, 'utf8'))
  const parts = ['configuration', 'api', 'commands', 'names']
  return Object.fromEntries(parts.map((part) => [part, read(part)])) as unknown as Contract
}

export function writeContract(version: string, contract: Contract): void {
  mkdirSync(`${folder}${version}`, { recursive: true })
  for (const [part, value] of Object.entries(contract))
    writeFileSync(`${folder}${version}/${part}.json`, `${linesOf(value, DEPTH)}\n`)
}

/** The levels with a line for each member: an operation, a named schema, an option or a metric has one. */
const DEPTH = 3

function linesOf(value: unknown, depth: number): string {
  if (depth === 0 || value === null || typeof value !== 'object') return JSON.stringify(value)
  const isList = Array.isArray(value)
  const lines = Object.entries(value).map(
    ([key, each]) => (isList ? '' : `${JSON.stringify(key)}: `) + linesOf(each, depth - 1),
  )
  return `${isList ? '[' : '{'}\n${lines.join(',\n')}\n${isList ? ']' : '}'}`
}
