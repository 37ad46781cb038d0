/** The settings of an empty configuration, from the defaults in the schema. */

import { LineCounter } from 'yaml'
import type { Limits, MemoryBounds } from '../../src/config/config.ts'
import { Document } from '../../src/config/positioned-document.ts'
import { buildLimits, limits, memory } from '../../src/config/limits.ts'
import { Section } from '../../src/config/section.ts'

const empty = new Section(new Document('', new LineCounter()), {})

export const DEFAULT_LIMITS: Limits = buildLimits(limits.of(empty), empty, 1)
export const DEFAULT_MEMORY: MemoryBounds = memory.of(empty)
