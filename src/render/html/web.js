
'use strict';
