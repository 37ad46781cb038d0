/** What `npm pack` and `npm publish` do after the build, before npm takes the files. */

import { fileURLToPath } from 'node:url'
import { setModes } from './modes.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

setModes(root)
