/**
 * Hostile responses over TLS: the quick files. The slow ones have more bytes for the same parser, and are played
 * over TLS only where the connection counts: `hostile-tls-ends.slow.test.ts`.
 */

import { globSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { speakTls } from './hop.ts'

const folder = fileURLToPath(new URL('.', import.meta.url))
const files = globSync('hostile-*.test.ts', { cwd: folder }).filter((file) => !file.includes('.slow.'))

speakTls()
t.ok(files.length > 5, 'the other files were found')
for (const file of files.sort()) await import(`./${file}`)
