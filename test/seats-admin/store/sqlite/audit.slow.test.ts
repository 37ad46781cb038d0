/** The audit in an SQLite file: tampering, and versions that keep none. */

import t from 'tap'
import { inTurn } from '../in-turn.ts'
import { tampering } from '../tampering.ts'
import { databases } from './support.ts'

tampering(t, inTurn(t, databases()))
