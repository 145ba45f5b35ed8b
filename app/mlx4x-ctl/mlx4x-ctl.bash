# SPDX-License-Identifier: BSD-3-Clause
# bash completion of mlx4x-ctl

_mlx4x_ctl()
{
	local cur prev words cword word command= options
	_init_completion || return

	for word in "${words[@]:1:cword-1}"; do
		case $word in
		load | unload | status | features | stats | maps | targets | trace)
			command=$word
			break
			;;
		esac
	done
	case $prev in
	-s | -p | --socket | --pin-path)
		_filedir
		return
		;;
	-v | --verify)
		COMPREPLY=($(compgen -W "auto kernel internal cached none" -- "$cur"))
		return
		;;
	-m | --mode)
		COMPREPLY=($(compgen -W "native" -- "$cur"))
		return
		;;
	targets)
		COMPREPLY=($(compgen -W "list set delete" -- "$cur"))
		return
		;;
	maps)
		COMPREPLY=($(compgen -W "list dump lookup update delete" -- "$cur"))
		return
		;;
	esac
	case $command in
	"") options="--file-prefix --socket --json --pretty" ;;
	load) options="--mode --section --prog-name --pin-path --verify --queue --replace --append --prio" ;;
	unload) options="--id --all --queue" ;;
	stats) options="--interval --count" ;;
	targets) options="--txq" ;;
	trace) options="--follow --count" ;;
	*) options= ;;
	esac
	if [[ $cur == -* ]]; then
		COMPREPLY=($(compgen -W "$options --help --usage" -- "$cur"))
	elif [[ -z $command ]]; then
		COMPREPLY=($(compgen -W "load unload status features stats maps targets trace" -- "$cur"))
	elif [[ $command == load ]]; then
		_filedir o
	fi
} && complete -F _mlx4x_ctl mlx4x-ctl
