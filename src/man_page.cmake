# A man page of the program, or (COMMAND) of one of its commands, from their own help: cmake -DPROGRAM=.. -DVERSION=.. -DHELP2MAN=.. -DOUT=NAME.1 -P this
get_filename_component(name ${OUT} NAME_WE)
get_filename_component(folder ${OUT} DIRECTORY)
file(MAKE_DIRECTORY ${folder})
set(about "motion of extended bodies in curved spaces")
set(asked ${PROGRAM})
if(COMMAND)
  execute_process(COMMAND ${PROGRAM} ${COMMAND} --help OUTPUT_VARIABLE help COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX REPLACE "^usage:[^\n]*\n( [^\n]*\n)*" "" about "${help}")
  string(REPLACE "\n" " " about "${about}")
  string(REGEX REPLACE "(\\. |\\.$|:|;| \\().*" "" about "${about}") # its first sentence
  set(asked ${OUT}.d/${name})
  file(WRITE ${asked} "#!/bin/sh\nexec '${PROGRAM}' ${COMMAND} \"$@\"\n")
  file(CHMOD ${asked} PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
endif()
string(STRIP "${about}" about)
execute_process(COMMAND ${HELP2MAN} --no-info --no-discard-stderr --version-string ${VERSION} --name ${about} --output ${OUT} ${asked}
                COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND gzip -9nf ${OUT} COMMAND_ERROR_IS_FATAL ANY)
