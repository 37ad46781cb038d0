/** The hostile responses of the other files over TLS. */

import { globSync } from 'node:fs'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { speakTls } from './hop.ts'

const folder = fileURLToPath(new URL('.', import.meta.url))
const itself = basename(import.meta.url)
const files = globSync('hostile-*.test.ts', { cwd: folder }).filter((file) => file !== itself)

speakTls()
t.ok(files.length > 10, 'the other files were found')
for (const file of files.sort()) await import(`./${file}`)
